import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

import { Effect, Layer, Semaphore } from "effect"

import { type DocxContent, DocxConverter, DocxError } from "../../ports/docx-converter.ts"
import type { FromReader, Task } from "./messages.ts"

/** How documents are converted. */
export interface DocxOptions {
  /** Documents at once; each has a process of its own. */
  readonly processes?: number
  readonly timeoutMs?: number
  /** Memory of JavaScript in a process. */
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
const READER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./reader.ts" : "./reader.js", import.meta.url)
)

/** What the person who sent the document reads. */
const MESSAGES: Readonly<Record<DocxError["reason"], string>> = {
  broken: "This Word document is damaged. Open it in Word, save it anew, then send it again.",
  "too-large": "This Word document is too large to be converted. Split it up, then send the parts.",
  timeout: "This Word document took too long to read. Split it up, then send the parts.",
  crashed: "This Word document could not be read. Open it in Word, save it anew, then send it again."
}

const docxError = (reason: DocxError["reason"], cause?: unknown): DocxError =>
  new DocxError({ reason, message: MESSAGES[reason], ...(cause === undefined ? {} : { cause }) })

/** How Node ends a process whose heap is full: it aborts, which some shells and systems tell as 128 + 6. */
const isOutOfMemory = (code: number | null, signal: NodeJS.Signals | null): boolean =>
  signal === "SIGABRT" || code === 134

/**
 * A process for one document; it ends with the answer, the time-out, or the interruption of who waits. No thread: one whose heap
 * is full may take the whole program along.
 */
const inProcess = (task: Task, timeoutMs: number, heapMb: number): Effect.Effect<DocxContent, DocxError> =>
  Effect.callback((resume) => {
    const child = fork(READER, [], {
      // A reader of hostile files has no use for the secrets that the environment may hold.
      env: {},
      execArgv: [`--max-old-space-size=${heapMb}`],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"]
    })
    const end = () => {
      clearTimeout(alarm)
      child.removeAllListeners()
      // One that is ended may still tell of an error.
      child.on("error", () => undefined)
      child.kill("SIGKILL")
    }
    const finish = (outcome: Effect.Effect<DocxContent, DocxError>) => {
      end()
      resume(outcome)
    }
    const alarm = setTimeout(() => finish(Effect.fail(docxError("timeout"))), timeoutMs)
    child.on("message", (answer: FromReader) => {
      switch (answer.kind) {
        case "converted":
          return finish(Effect.succeed(answer.content))
        case "too-large":
          return finish(Effect.fail(docxError("too-large")))
        case "broken":
          return finish(Effect.fail(docxError("broken", answer.cause)))
      }
    })
    child.on("error", (error) => finish(Effect.fail(docxError("crashed", error))))
    child.on("exit", (code, signal) =>
      finish(Effect.fail(docxError(isOutOfMemory(code, signal) ? "too-large" : "crashed")))
    )
    child.send(task)
    return Effect.sync(end)
  })

/** Word documents by mammoth, each in a process of its own with a limit on memory and time. */
export const layerDocx = ({
  heapMb = HEAP_MB,
  pictureBytes = PICTURE_BYTES,
  processes = 1,
  timeoutMs = TIMEOUT_MS
}: DocxOptions = {}): Layer.Layer<DocxConverter> =>
  Layer.sync(DocxConverter, () => {
    const turns = Semaphore.makeUnsafe(processes)
    return DocxConverter.of({
      convert: (path) =>
        turns.withPermit(
          inProcess(
            { path, pictureBytes, onePictureBytes: Math.min(pictureBytes, ONE_PICTURE_BYTES) },
            timeoutMs,
            heapMb
          )
        )
    })
  })
