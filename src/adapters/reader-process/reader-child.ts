/** The process that a reader runs in: `reader-child.ts PROGRAM RESIDENT_BYTES`. */
import { Worker } from "node:worker_threads"

/** What a process answers to a task. `failed`: the program threw. */
export type FromChild =
  | { readonly kind: "answered"; readonly answer: unknown; readonly residentBytes: number }
  | { readonly kind: "failed"; readonly cause: string }

const [, , program = "", residentBytes = ""] = process.argv

/** A separate thread watches the memory, since the reader blocks its own. Plain JavaScript, which starts three times as fast. */
const WATCH = `
  const { workerData } = require("node:worker_threads")
  setInterval(() => {
    if (process.memoryUsage.rss() > workerData) process.kill(process.pid, "SIGKILL")
  }, 20)
`
new Worker(WATCH, { eval: true, workerData: Number(residentBytes), execArgv: [] }).unref()

const { default: read } = (await import(program)) as { readonly default: (task: unknown) => unknown }

const answer = async (task: unknown): Promise<FromChild> => {
  try {
    return { kind: "answered", answer: await read(task), residentBytes: process.memoryUsage.rss() }
  } catch (error) {
    return { kind: "failed", cause: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

// Its parent is gone: nobody waits for the answer.
process.once("disconnect", () => process.exit())

// One task at a time: the parent waits for the answer before it sends the next.
process.on("message", (task) => {
  void answer(task).then((message) => process.send?.(message))
})
