import { Effect, Layer, Semaphore } from "effect"

import { type DocxContent, DocxConverter, DocxError } from "../../ports/docx-converter.ts"
import { type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import type { FromReader, Task } from "./messages.ts"

/** How documents are converted. */
export interface DocxOptions {
  /** Documents at once; each has a process of its own. */
  readonly processes?: number
  readonly timeoutMs?: number
  /** Memory of JavaScript in a process. */
  readonly heapMb?: number
  /** Memory of a process. */
  readonly residentMb?: number
  /** Bytes of pictures that go into a result. */
  readonly pictureBytes?: number
}

/** Real documents of a thousand pages take seconds. */
const TIMEOUT_MS = 120_000
const HEAP_MB = 768
const RESIDENT_MB = 1280
const PICTURE_BYTES = 30 * 1024 * 1024
const ONE_PICTURE_BYTES = 10 * 1024 * 1024
/** From a build the file has the ending that this one has. */
const READER = new URL(import.meta.url.endsWith(".ts") ? "./reader.ts" : "./reader.js", import.meta.url)

/** What the person who sent the document reads. */
const MESSAGES: Readonly<Record<DocxError["reason"], string>> = {
  broken: "This Word document is damaged. Open it in Word, save it anew, then send it again.",
  "too-large": "This Word document is too large to be converted. Split it up, then send the parts.",
  timeout: "This Word document took too long to read. Split it up, then send the parts.",
  crashed: "This Word document could not be read. Open it in Word, save it anew, then send it again."
}

const docxError = (reason: DocxError["reason"], cause?: unknown): DocxError =>
  new DocxError({ reason, message: MESSAGES[reason], ...(cause === undefined ? {} : { cause }) })

/** What the reader answers; its own program is the other side. */
const outcomeOf = (answer: FromReader): Effect.Effect<DocxContent, DocxError> => {
  switch (answer.kind) {
    case "converted":
      return Effect.succeed(answer.content)
    case "too-large":
      return Effect.fail(docxError("too-large"))
    case "broken":
      return Effect.fail(docxError("broken", answer.cause))
  }
}

const REASONS: Readonly<Record<ReaderEnded["reason"], DocxError["reason"]>> = {
  timeout: "timeout",
  memory: "too-large",
  crashed: "crashed",
  unavailable: "crashed"
}

/** Word documents by mammoth, each in a process of its own with a limit on memory and time. */
export const layerDocx = ({
  heapMb = HEAP_MB,
  pictureBytes = PICTURE_BYTES,
  processes = 1,
  residentMb = RESIDENT_MB,
  timeoutMs = TIMEOUT_MS
}: DocxOptions = {}): Layer.Layer<DocxConverter, never, ReaderProcess> =>
  Layer.effect(
    DocxConverter,
    Effect.map(ReaderProcess, (readers) => {
      const turns = Semaphore.makeUnsafe(processes)
      const reader = { program: READER, timeoutMs, heapMb, residentMb, tasks: 1 }
      return DocxConverter.of({
        convert: (path) => {
          const task: Task = {
            path,
            pictureBytes,
            onePictureBytes: Math.min(pictureBytes, ONE_PICTURE_BYTES)
          }
          return turns.withPermit(
            readers.run(reader, task).pipe(
              Effect.mapError(({ cause, reason }) => docxError(REASONS[reason], cause)),
              Effect.flatMap((answer) => outcomeOf(answer as FromReader))
            )
          )
        }
      })
    })
  )
