import { readFileSync } from "node:fs"

/** What a process has taken so far, all its threads together. */
export interface ProcessFigures {
  /** Of the processor, in steps of 10 ms. */
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** The most that it had resident. */
  readonly peakBytes: number
}

/** Clock ticks of Linux, a second (USER_HZ, the same on every one that Node runs on). */
const TICKS = 100

/** From `/proc`; undefined where there is no such process, or the system does not tell. */
export const processFigures = (pid: number): ProcessFigures | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const status = readFileSync(`/proc/${pid}/status`, "latin1")
    // What follows the command's name, which may hold anything: fields 14 and 15 are user and system time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const bytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) * 1024
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
      residentBytes: bytes("VmRSS"),
      peakBytes: bytes("VmHWM")
    }
  } catch {
    return undefined
  }
}
