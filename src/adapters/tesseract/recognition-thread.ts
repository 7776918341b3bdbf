import { Worker } from "node:worker_threads"

import { Effect } from "effect"

import { RecognitionError } from "../../ports/conversion/text-recognition.ts"
import type { RecognisedText } from "../../reader/model/recognised-text.ts"
import type { Answer, Request, WorkerData } from "./messages.ts"

/** Limit on the JavaScript memory of a thread. The library has a separate limit. */
const HEAP_MB = 256
/** A thread is replaced after so many pages, or once its library holds so much: its memory creeps. */
const RECYCLE_PAGES = 50
const RECYCLE_BYTES = 400 * 1024 * 1024
/** A thread without work is ended after this time: it holds some 300 MB. */
const IDLE_MS = 20_000
/** A page ends after so many of its time limits by the clock, however little of a processor it got. */
const MOST_WAITS = 10
const MIN_WAIT_MS = 100
/** Under a bundler or from a build the file has the ending that this one has. */
const WORKER = new URL(
  import.meta.url.endsWith(".ts") ? "./tesseract-worker.ts" : "./tesseract-worker.js",
  import.meta.url
)

/** Time of a processor that the thread has used so far, milliseconds; by the clock before Node 24.6. */
const usedBy = async (worker: Worker): Promise<number> => {
  if (!("cpuUsage" in worker)) return performance.now()
  try {
    const { system, user } = await worker.cpuUsage()
    return (system + user) / 1000
  } catch {
    // It has ended, and says so itself.
    return 0
  }
}

/** What threads are started with. */
interface ThreadOptions extends WorkerData {
  /** Of a processor, where Node can tell. */
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
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB }
    })
    // A thread that dies while idle is replaced at the next request.
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
      const before = usedBy(worker)
      let isOver = false
      const leave = () => {
        isOver = true
        clearTimeout(alarm)
        clearTimeout(last)
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
      const { pageTimeoutMs } = this.#options
      // Other work may keep the thread waiting: what it used counts, up to a limit.
      const check = async () => {
        const used = (await usedBy(worker)) - (await before)
        if (isOver) return
        if (used >= pageTimeoutMs) return fail("timeout")
        alarm = setTimeout(() => void check(), Math.max(MIN_WAIT_MS, pageTimeoutMs - used))
      }
      let alarm = setTimeout(() => void check(), pageTimeoutMs)
      const last = setTimeout(() => fail("timeout"), MOST_WAITS * pageTimeoutMs)
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
