import { Worker } from "node:worker_threads"

import { Effect } from "effect"

import type { RecognisedText } from "../../domain/conversion/recognition/recognised-text.ts"
import { RecognitionError } from "../../ports/conversion/text-recognition.ts"
import type { Answer, Request, WorkerData } from "./messages.ts"

/** Memory of JavaScript in a thread. What the library takes has a limit of its own. */
const HEAP_MB = 256
/** A thread is replaced after so many pages, or once its library holds so much: its memory creeps. */
const RECYCLE_PAGES = 50
const RECYCLE_BYTES = 400 * 1024 * 1024
/** A thread without work is ended after this time: it holds some 300 MB. */
const IDLE_MS = 20_000
/** Under a bundler or from a build the file has the ending that this one has. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url)

/** What threads are started with. */
export interface ThreadOptions extends WorkerData {
  readonly pageTimeoutMs: number
}

/**
 * One worker thread at a time, started when it is needed. It is ended by a trap, by lack of memory, by a picture that takes too long
 * and by interruption of the caller; after some pages; and when there is nothing to do. The next picture gets a fresh one.
 */
export class RecognitionThread {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  #pages = 0
  #idle: NodeJS.Timeout | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  #start(): Worker {
    const { languages, libraryBytes } = this.#options
    const data: WorkerData = { languages, libraryBytes }
    const worker = new Worker(WORKER, {
      workerData: data,
      // A reader of hostile files has no use for the secrets that the environment may hold.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB }
    })
    // One that dies while nobody waits is replaced by the next request.
    worker.on("error", () => this.#forget(worker))
    worker.on("exit", () => this.#forget(worker))
    this.#pages = 0
    return worker
  }

  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
  }

  #end(worker: Worker): void {
    this.#forget(worker)
    void worker.terminate()
  }

  /** Ends the thread, whatever it is doing. */
  stop(): Promise<unknown> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    return worker?.terminate() ?? Promise.resolve()
  }

  /** Reads one picture; asked for the next one only after that. */
  read(request: Request): Effect.Effect<RecognisedText, RecognitionError> {
    return Effect.callback((resume) => {
      clearTimeout(this.#idle)
      const worker = (this.#worker ??= this.#start())
      worker.ref()
      const leave = () => {
        clearTimeout(alarm)
        worker.off("message", onMessage).off("error", onError).off("exit", onExit)
        worker.unref()
      }
      const fail = (reason: RecognitionError["reason"], cause?: unknown) => {
        leave()
        this.#end(worker)
        resume(Effect.fail(new RecognitionError({ reason, cause })))
      }
      const onMessage = (answer: Answer) => {
        if (answer.kind === "crashed") return fail("crashed", answer.cause)
        leave()
        this.#pages += 1
        if (this.#pages >= RECYCLE_PAGES || answer.bytes > RECYCLE_BYTES) this.#end(worker)
        else this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref()
        resume(Effect.succeed(answer.text))
      }
      const onError = (error: unknown) => fail("crashed", error)
      const onExit = () => fail("crashed")
      const alarm = setTimeout(() => fail("timeout"), this.#options.pageTimeoutMs)
      worker.on("message", onMessage).on("error", onError).on("exit", onExit)
      const { buffer } = request.picture.bytes
      worker.postMessage(request, buffer instanceof ArrayBuffer ? [buffer] : [])
      return Effect.sync(() => {
        leave()
        this.#end(worker)
      })
    })
  }
}
