import { spawn } from "node:child_process"

import { processFigures } from "./process-figures.ts"

/** What a command took, in whatever language it is written. */
export interface Watched {
  readonly seconds: number
  /** Of the processor, all its threads together; in steps of 10 ms. */
  readonly cpuSeconds: number
  readonly peakBytes: number
  readonly output: string
}

/** How often a running command is looked at. */
const EVERY_MS = 4

/** Runs a command to its end; undefined where there is no such command here. Throws where it fails. Linux only. */
export const watched = (command: string, args: ReadonlyArray<string>): Promise<Watched | undefined> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] })
    const output: Array<Buffer> = []
    let [cpuSeconds, peakBytes] = [0, 0]
    const timer = setInterval(() => {
      // Both only ever grow: the last look is what the whole run came to, but for a few milliseconds.
      const seen = child.pid === undefined ? undefined : processFigures(child.pid)
      cpuSeconds = Math.max(cpuSeconds, seen?.cpuSeconds ?? 0)
      peakBytes = Math.max(peakBytes, seen?.peakBytes ?? 0)
    }, EVERY_MS)
    child.stdout.on("data", (bytes: Buffer) => output.push(bytes))
    child.on("error", (error) => {
      clearInterval(timer)
      if ("code" in error && error.code === "ENOENT") resolve(undefined)
      else reject(error)
    })
    child.on("close", (code) => {
      clearInterval(timer)
      if (code === 0)
        resolve({
          seconds: (performance.now() - started) / 1_000,
          cpuSeconds,
          peakBytes,
          output: Buffer.concat(output).toString("utf8")
        })
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}`))
    })
  })
