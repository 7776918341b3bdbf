import { Worker } from "node:worker_threads"

import { Effect, Layer, Semaphore } from "effect"

import { type DocxContent, DocxConverter, DocxError } from "../../ports/docx-converter.ts"
import type { FromWorker, Task } from "./messages.ts"

/** How documents are converted. */
export interface DocxOptions {
  /** Documents at once; each has a thread of its own. */
  readonly threads?: number
  readonly timeoutMs?: number
  /** Memory of JavaScript in a thread. */
  readonly heapMb?: number
  /** Bytes of pictures that go into a result. */
  readonly pictureBytes?: number
}

/** Real documents of a thousand pages take seconds. */
const TIMEOUT_MS = 120_000
const HEAP_MB = 768
const PICTURE_BYTES = 30 * 1024 * 1024
const ONE_PICTURE_BYTES = 10 * 1024 * 1024
/** From a build the file has the ending that this one has. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url)

/** What the person who sent the document reads. */
const MESSAGES: Readonly<Record<DocxError["reason"], string>> = {
  broken: "This Word document is damaged. Open it in Word, save it anew, then send it again.",
  "too-large": "This Word document is too large to be converted. Split it up, then send the parts.",
  timeout: "This Word document took too long to read. Split it up, then send the parts.",
  crashed: "This Word document could not be read. Open it in Word, save it anew, then send it again."
}

const docxError = (reason: DocxError["reason"], cause?: unknown): DocxError =>
  new DocxError({ reason, message: MESSAGES[reason], ...(cause === undefined ? {} : { cause }) })

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"

/** A thread for one document; it ends with the answer, the time-out, or the interruption of who waits. */
const inThread = (task: Task, timeoutMs: number, heapMb: number): Effect.Effect<DocxContent, DocxError> =>
  Effect.callback((resume) => {
    const worker = new Worker(WORKER, {
      workerData: task,
      // A reader of hostile files has no use for the secrets that the environment may hold.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb }
    })
    const end = () => {
      clearTimeout(alarm)
      worker.removeAllListeners()
      // A thread that is ended may still tell of an error.
      worker.on("error", () => undefined)
      void worker.terminate()
    }
    const finish = (outcome: Effect.Effect<DocxContent, DocxError>) => {
      end()
      resume(outcome)
    }
    const alarm = setTimeout(() => finish(Effect.fail(docxError("timeout"))), timeoutMs)
    worker.on("message", (answer: FromWorker) => {
      switch (answer.kind) {
        case "converted":
          return finish(Effect.succeed(answer.content))
        case "too-large":
          return finish(Effect.fail(docxError("too-large")))
        case "broken":
          return finish(Effect.fail(docxError("broken", answer.cause)))
      }
    })
    worker.on("error", (error) =>
      finish(Effect.fail(docxError(isOutOfMemory(error) ? "too-large" : "crashed", error)))
    )
    worker.on("exit", () => finish(Effect.fail(docxError("crashed"))))
    return Effect.sync(end)
  })

/** Word documents by mammoth, each in a worker thread with a limit on memory and time. */
export const layerDocx = ({
  heapMb = HEAP_MB,
  pictureBytes = PICTURE_BYTES,
  threads = 1,
  timeoutMs = TIMEOUT_MS
}: DocxOptions = {}): Layer.Layer<DocxConverter> =>
  Layer.sync(DocxConverter, () => {
    const turns = Semaphore.makeUnsafe(threads)
    return DocxConverter.of({
      convert: (path) =>
        turns.withPermit(
          inThread(
            { path, pictureBytes, onePictureBytes: Math.min(pictureBytes, ONE_PICTURE_BYTES) },
            timeoutMs,
            heapMb
          )
        )
    })
  })
