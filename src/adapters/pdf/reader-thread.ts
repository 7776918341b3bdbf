import { Worker } from "node:worker_threads"

import { Effect, Semaphore } from "effect"

import { append } from "../../domain/lists.ts"
import type { DocumentFacts, FontFace } from "../../reader/model/page-content.ts"
import type { PdfError, PdfFailure } from "../../reader/model/pdf-document.ts"
import { pdfError } from "../../reader/sources/pdf/failure.ts"
import type { AtHand, Trap } from "../../reader/sources/pdf/traps.ts"
import type { Request, Timed, ToWorker, WorkerData } from "./messages.ts"

/** How many times its processor time a page may take by the clock, on a machine that does other things. */
const CLOCK_FACTOR = 15
/** The shortest wait until the processor time of a thread is looked at again. */
const LOOK_AGAIN_MS = 250

/** Limit on the JavaScript memory of a thread. The libraries have a separate limit. */
const HEAP_MB = 512
/** What is made for each page is garbage with the next: a small nursery keeps it from piling up. */
const YOUNG_MB = 16
/** The longest that a thread may take to load its libraries: a fraction of a second, unless the machine is swamped. */
const START_TIMEOUT_MS = 120_000
/**
 * Library memory above which a thread is replaced, since that memory never shrinks. One in forty real documents needs more than 40
 * MB; a new thread costs a third of a second.
 */
const RECYCLE_BYTES = 64 * 1024 * 1024
/** Under a bundler or from a build the file has the ending that this one has. */
const WORKER = new URL(
  import.meta.url.endsWith(".ts") ? "./pdf-worker.ts" : "./pdf-worker.js",
  import.meta.url
)

/** What came of a request: the items up to `next`, and why there are no more, if that is an error. */
export interface Answer {
  readonly items: ReadonlyArray<unknown>
  readonly next: number
  readonly facts: DocumentFacts | undefined
  readonly newFonts: ReadonlyArray<FontFace>
  readonly failure: PdfError | undefined
  /** The trap that it failed by; undefined when it did not trap, or on an unknown page. */
  readonly trap: Trap | undefined
}

const trapOf = ({ atHand, reason }: { readonly atHand?: AtHand | undefined; readonly reason: PdfFailure }) =>
  atHand === undefined ? undefined : { ...atHand, reason }

/** Processor time of a thread, microseconds; without end for one that is gone. */
const cpuMicrosOf = (worker: Worker): Promise<number> =>
  worker.cpuUsage().then(
    ({ system, user }) => system + user,
    () => Infinity
  )

/** Ends the wait for a thread that has used up its processor time, or far more time than that by the clock. */
const makeWatch = (
  worker: Worker,
  {
    giveUp,
    limitMs,
    used
  }: {
    /** Processor time of a page. */
    readonly limitMs: number
    /** Processor time of the thread when it answered last, microseconds. */
    readonly used: () => number
    readonly giveUp: () => void
  }
) => {
  let alarm: NodeJS.Timeout | undefined
  /** Which wait it is: an older one's look at the thread changes nothing. */
  let turn = 0
  const end = () => {
    turn++
    clearTimeout(alarm)
  }
  return {
    end,
    begin: (patienceMs = limitMs) => {
      end()
      const own = turn
      const before = used()
      const endsAt = performance.now() + Math.max(patienceMs, limitMs * CLOCK_FACTOR)
      const judge = async () => {
        const micros = await cpuMicrosOf(worker)
        if (own !== turn) return
        const left = patienceMs - (micros - before) / 1000
        if (left <= 0 || performance.now() >= endsAt) giveUp()
        else look(Math.max(left, LOOK_AGAIN_MS))
      }
      const look = (inMs: number) => {
        alarm = setTimeout(() => {
          void judge()
        }, inMs)
      }
      look(patienceMs)
    }
  }
}

/**
 * One worker thread at a time, started when it is needed and again after it was ended: by a trap, by lack of memory, by a
 * page that uses more processor time than `pageTimeoutMs`, by interruption of the caller. The request that ended it fails; the
 * next one gets a fresh thread.
 */
export class ReaderThread {
  readonly #options: WorkerData & { readonly pageTimeoutMs: number }
  readonly #turn = Semaphore.makeUnsafe(1)
  #worker: Worker | undefined
  /** Processor time of the thread when it answered last, microseconds. */
  #cpuMicros = 0

  constructor(options: WorkerData & { readonly pageTimeoutMs: number }) {
    this.#options = options
  }

  #start(): Worker {
    this.#cpuMicros = 0
    const { batchBytes, batchPages, libraryBytes } = this.#options
    const data: WorkerData = { batchBytes, batchPages, libraryBytes }
    const worker = new Worker(WORKER, {
      workerData: data,
      // A reader of hostile files has no use for the secrets that the environment may hold.
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB }
    })
    worker.setMaxListeners(0)
    // A thread that dies while idle is replaced at the next request.
    worker.on("error", () => this.#forget(worker))
    worker.on("exit", () => this.#forget(worker))
    return worker
  }

  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
  }

  /** Ends the thread, whatever it is doing. */
  stop(): Promise<unknown> {
    const worker = this.#worker
    this.#worker = undefined
    return worker?.terminate() ?? Promise.resolve()
  }

  /** Closes a document that is open there. */
  close(document: number): void {
    const message: ToWorker = { kind: "close", document }
    this.#worker?.postMessage(message)
  }

  /** Has the thread work on a batch. Never fails except by a defect: the document's errors are in the answer. */
  ask(request: Request): Effect.Effect<Answer> {
    return this.#turn.withPermit(Effect.callback<Answer>((resume) => this.#exchange(request, resume)))
  }

  #exchange(request: Request, resume: (answer: Effect.Effect<Answer>) => void): Effect.Effect<void> {
    const fresh = this.#worker === undefined
    const worker = (this.#worker ??= this.#start())
    const items: Array<unknown> = []
    const newFonts: Array<FontFace> = []
    let facts: DocumentFacts | undefined

    const leave = () => {
      watch.end()
      worker.off("message", onMessage).off("error", onError).off("exit", onExit)
      worker.unref()
    }
    const finish = (failure?: PdfError, trap?: Trap) => {
      leave()
      resume(Effect.succeed({ items, next: request.first + items.length, facts, newFonts, failure, trap }))
    }
    const endThread = () => {
      this.#forget(worker)
      void worker.terminate()
    }
    const atPage = () => (request.operation === undefined ? undefined : request.first + items.length)
    const watch = makeWatch(worker, {
      limitMs: this.#options.pageTimeoutMs,
      used: () => this.#cpuMicros,
      giveUp: () => {
        endThread()
        finish(pdfError("timeout", atPage()))
      }
    })
    const onMessage = (message: Timed) => {
      this.#cpuMicros = message.cpuMicros
      switch (message.kind) {
        case "ready":
          return watch.begin()
        case "item":
          watch.begin()
          items.push(message.item)
          append(newFonts, message.newFonts)
          return
        case "done":
          facts = message.facts
          if (message.bytes > RECYCLE_BYTES) endThread()
          return finish()
        case "failed":
          // A page over a limit may leave much memory behind; after a trap the library cannot be trusted.
          if (message.reason === "bomb" || message.cause !== undefined) endThread()
          return finish(pdfError(message.reason, message.page ?? atPage(), message.cause), trapOf(message))
        case "fault":
          leave()
          return resume(Effect.die(new Error(message.message)))
      }
    }
    const onError = (error: unknown) => {
      const full = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"
      finish(pdfError(full ? "bomb" : "crashed", atPage(), error))
    }
    const onExit = () => finish(pdfError("crashed", atPage()))

    worker.ref()
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    watch.begin(fresh ? START_TIMEOUT_MS : undefined)
    const message: ToWorker = { kind: "request", request }
    worker.postMessage(message, [])
    return Effect.sync(() => {
      leave()
      endThread()
    })
  }
}
