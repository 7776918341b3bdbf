/** The process that a reader runs in: `reader-child.ts PROGRAM RESIDENT_BYTES CPU_MS`. */
import { Worker } from "node:worker_threads"

/** What a process answers to a task. `failed`: the program threw. */
export type FromChild =
  | { readonly kind: "answered"; readonly answer: unknown; readonly residentBytes: number }
  | { readonly kind: "failed"; readonly cause: string }

const [, , program = "", residentBytes = "", cpuMs = ""] = process.argv

/** Processor time of this process when its task began, microseconds; below zero while it has none. */
const began = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)).fill(-1)

const cpuMicros = (): number => {
  const { system, user } = process.cpuUsage()
  return user + system
}

/**
 * A separate thread watches memory and processor time, since the reader blocks its own. Plain JavaScript, which starts three times as
 * fast. The signals tell the parent which limit was exceeded.
 */
const WATCH = `
  const { began, cpuMicros, residentBytes } = require("node:worker_threads").workerData
  setInterval(() => {
    if (process.memoryUsage.rss() > residentBytes) process.kill(process.pid, "SIGKILL")
    const { system, user } = process.cpuUsage()
    if (began[0] >= 0 && user + system - began[0] > cpuMicros) process.kill(process.pid, "SIGVTALRM")
  }, 20)
`
new Worker(WATCH, {
  eval: true,
  workerData: { began, cpuMicros: Number(cpuMs) * 1000, residentBytes: Number(residentBytes) },
  execArgv: []
}).unref()

const { default: read } = (await import(program)) as { readonly default: (task: unknown) => unknown }

const answer = async (task: unknown): Promise<FromChild> => {
  began[0] = cpuMicros()
  try {
    return { kind: "answered", answer: await read(task), residentBytes: process.memoryUsage.rss() }
  } catch (error) {
    return { kind: "failed", cause: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    began[0] = -1
  }
}

// Ends when the parent is gone, which alone reads the answer.
process.once("disconnect", () => process.exit())

// One task at a time: the parent waits for the answer before it sends the next.
process.on("message", (task) => {
  void answer(task).then((message) => process.send?.(message))
})
