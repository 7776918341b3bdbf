import { spawn } from "node:child_process"
import { once } from "node:events"

import { Effect } from "effect"

/** Runs a TypeScript file in a process of its own until it writes its first line, then kills it with SIGKILL. */
export const killAfterFirstLine = (file: URL, env: Record<string, string>): Effect.Effect<void> =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [file.pathname], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = once(child, "exit")
    const [outcome] = await Promise.race([once(child.stdout, "data"), ended])
    if (!Buffer.isBuffer(outcome)) throw new Error(`${file.pathname} ended before it wrote a line`)
    child.kill("SIGKILL")
    await ended
  })
