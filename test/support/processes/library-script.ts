import { spawn } from "node:child_process"
import { once } from "node:events"

import { LONGEST_WAIT_MS } from "../time-limits.ts"
import { programOf } from "./child.ts"

/** How a script ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a module of plain JavaScript in a Node process of its own, where `sendEmail` and `close` are there and the
 * environment is exactly `env`. One that does not end by itself is killed after a minute, which the signal tells.
 */
export const runScript = async (source: string, env: Readonly<Record<string, string>>): Promise<Ended> => {
  const module = `import { close, sendEmail } from ${JSON.stringify(programOf("src/runtime/entries/library.ts"))}\n${source}`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", module], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_WAIT_MS,
    killSignal: "SIGKILL"
  })
  const out: Array<Buffer> = []
  const err: Array<Buffer> = []
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
  await once(child, "close")
  return {
    code: child.exitCode,
    signal: child.signalCode,
    stdout: Buffer.concat(out).toString(),
    stderr: Buffer.concat(err).toString()
  }
}
