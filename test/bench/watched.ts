import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"

/** What a command took, in whatever language it is written. */
export interface Watched {
  readonly seconds: number
  /** Of the processor, all its threads together; in steps of 10 ms. */
  readonly cpuSeconds: number
  readonly peakBytes: number
  readonly output: string
}

/** Clock ticks of Linux, a second. */
const TICKS = 100
/** How often a running command is looked at. */
const EVERY_MS = 4

/** From `/proc`: both only ever grow, so that the last look is what the whole run came to, but for a few milliseconds. */
const look = (pid: number): { readonly cpuSeconds: number; readonly peakBytes: number } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // What follows the command's name, which may hold anything: fields 14 and 15 are user and system time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
      peakBytes: Number(peak ?? 0) * 1024
    }
  } catch {
    return undefined
  }
}

/** Runs a command to its end; undefined where there is no such command here. Throws where it fails. Linux only. */
export const watched = (command: string, args: ReadonlyArray<string>): Promise<Watched | undefined> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] })
    const output: Array<Buffer> = []
    let [cpuSeconds, peakBytes] = [0, 0]
    const timer = setInterval(() => {
      const seen = child.pid === undefined ? undefined : look(child.pid)
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
