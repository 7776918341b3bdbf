import { Worker } from "node:worker_threads"

import { Effect } from "effect"

import type { Tasks, FromThread, ToThread } from "./messages.ts"

/** Memory of JavaScript in the thread: more than the largest document takes that is let in. */
const HEAP_MB = 1536
/** The trees of a page are garbage with the next: a small nursery keeps them from piling up. */
const YOUNG_MB = 16
/** The longest that the pages of one request may take; the largest page takes seconds. */
const TIMEOUT_MS = 120_000
/** Under a bundler or from a build the file has the ending that this one has. */
const WORKER = new URL(
  import.meta.url.endsWith(".ts") ? "./html-worker.ts" : "./html-worker.js",
  import.meta.url
)

interface Waiting {
  readonly resume: (answer: Effect.Effect<unknown>) => void
  readonly alarm: NodeJS.Timeout
}

/**
 * The thread that reads and writes HTML, so that a long page delays no other document. Started on demand and restarted after it
 * has ended; what was in progress then is lost and must be redone.
 */
export class AssemblyThread {
  #worker: Worker | undefined
  #asked = 0
  readonly #waiting = new Map<number, Waiting>()

  #start(): Worker {
    const worker = new Worker(WORKER, {
      // It parses hostile input and needs no secret of the environment.
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB }
    })
    worker.on("message", (message: FromThread) =>
      this.#settle(
        message.id,
        "fault" in message ? Effect.die(new Error(message.fault)) : Effect.succeed(message.answers)
      )
    )
    worker.on("error", (error) => this.#end(worker, error))
    worker.on("exit", () => this.#end(worker, new Error("the thread that writes HTML ended")))
    return worker
  }

  #settle(id: number, answer: Effect.Effect<unknown>): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#worker?.unref()
    clearTimeout(waiting?.alarm)
    waiting?.resume(answer)
  }

  #end(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const id of this.#waiting.keys()) this.#settle(id, Effect.die(error))
  }

  /** Runs an operation on the thread. A defect where the thread ends during it. */
  ask<K extends keyof Tasks>(task: K, asks: Tasks[K]["asks"]): Effect.Effect<Tasks[K]["answers"]> {
    return Effect.callback<unknown>((resume) => {
      const id = this.#asked++
      const worker = (this.#worker ??= this.#start())
      const alarm = setTimeout(() => {
        this.#end(worker, new Error("a page took too long to be written"))
        void worker.terminate()
      }, TIMEOUT_MS)
      this.#waiting.set(id, { resume, alarm })
      worker.ref()
      const request: ToThread<K> = { id, task, asks }
      worker.postMessage(request, [])
      // An abandoned operation still runs; its answer is dropped.
      return Effect.sync(() => this.#settle(id, Effect.void))
    }).pipe(Effect.map((answers) => answers as Tasks[K]["answers"]))
  }

  /** Frees the thread's state of a document. */
  drop(document: number): void {
    const request: ToThread<"drop"> = { id: this.#asked++, task: "drop", asks: { document } }
    this.#worker?.postMessage(request, [])
  }

  async stop(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    this.#end(worker, new Error("the thread that writes HTML was stopped"))
    await worker.terminate()
  }
}
