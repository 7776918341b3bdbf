import { spawn } from "node:child_process"
import { once } from "node:events"

import { Effect } from "effect"

import { programOf } from "./child.ts"

/** Runs a TypeScript file in a process of its own until it writes its first line, then kills it with SIGKILL. */
export const killAfterFirstLine = (file: string, env: Record<string, string>): Effect.Effect<void> =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [programOf(file)], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = once(child, "exit")
    const [outcome] = await Promise.race([once(child.stdout, "data"), ended])
    if (!Buffer.isBuffer(outcome)) throw new Error(`${file} ended before it wrote a line`)
    child.kill("SIGKILL")
    await ended
  })
