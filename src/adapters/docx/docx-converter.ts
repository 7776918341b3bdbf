import { Effect, Layer, Semaphore } from "effect"

import {
  DocumentReaderAway,
  UnreadableDocument,
  UnsupportedDocument,
  DocxConverter
} from "../../ports/conversion/documents.ts"
import { type Reader, type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import { type DocxContent, DocxError } from "../../reader/model/word-document.ts"
import type { FromReader, Task } from "./docx-reader.ts"

/** How documents are converted. */
export interface DocxOptions {
  /** Documents at once; each has a separate process. */
  readonly processes?: number
  /** Processor time of a document, milliseconds. */
  readonly cpuMs?: number
  /** Memory of JavaScript in a process. */
  readonly heapMb?: number
  /** Memory of a process. */
  readonly residentMb?: number
  /** Bytes of pictures that go into a result. */
  readonly pictureBytes?: number
}

/** Processor time. Real documents of a thousand pages take seconds. */
const CPU_MS = 120_000
/** Reading what is in an archive takes a fraction of a second; a process is kept for so many. */
const INSPECT_MS = 30_000
const INSPECTIONS = 100
const HEAP_MB = 768
const RESIDENT_MB = 1280
const PICTURE_BYTES = 30 * 1024 * 1024
const ONE_PICTURE_BYTES = 10 * 1024 * 1024
/** From a build the file has the ending that this one has. */
const READER = new URL(
  import.meta.url.endsWith(".ts") ? "./docx-reader.ts" : "./docx-reader.js",
  import.meta.url
)

/** What the person who sent the document reads. */
const MESSAGES: Readonly<Record<DocxError["reason"], string>> = {
  broken: "This Word document is damaged. Open it in Word, save a new copy, then send that.",
  "too-large": "This Word document is too large to be converted. Split it up, then send the parts.",
  timeout: "This Word document took too long to read. Split it up, then send the parts.",
  crashed: "This Word document could not be read. Open it in Word, save a new copy, then send that.",
  unavailable: "Word documents could not be read just now. Convert it again in a while."
}

const docxError = (reason: DocxError["reason"], cause?: unknown): DocxError =>
  new DocxError({ reason, message: MESSAGES[reason], ...(cause === undefined ? {} : { cause }) })

/** What a reader that was asked to convert has answered. */
const contentOf = (answer: FromReader): Effect.Effect<DocxContent, DocxError> => {
  switch (answer.kind) {
    case "converted":
      return Effect.succeed(answer.content)
    case "too-large":
      return Effect.fail(docxError("too-large"))
    case "unreadable":
      return Effect.fail(docxError(answer.why, answer.message))
    case "broken":
      return Effect.fail(docxError("broken", answer.cause))
    case "inspected":
    case "unsupported":
      return Effect.fail(docxError("broken", answer.kind))
  }
}

/** What a reader that was asked to inspect has answered. */
const pagesOf = (
  answer: FromReader
): Effect.Effect<{ readonly pages: number }, UnsupportedDocument | UnreadableDocument> => {
  switch (answer.kind) {
    case "inspected":
      return Effect.succeed({ pages: answer.pages })
    case "unsupported":
      return Effect.fail(new UnsupportedDocument({ found: answer.found }))
    case "unreadable":
      return Effect.fail(new UnreadableDocument({ message: answer.message }))
    case "converted":
    case "too-large":
    case "broken":
      return Effect.fail(new UnreadableDocument({ message: MESSAGES.broken }))
  }
}

const REASONS: Readonly<Record<ReaderEnded["reason"], DocxError["reason"]>> = {
  timeout: "timeout",
  memory: "too-large",
  crashed: "crashed",
  stalled: "unavailable",
  unavailable: "unavailable"
}

/** Word documents by mammoth, each in a separate process with a limit on memory and time. */
export const layerDocx = ({
  cpuMs = CPU_MS,
  heapMb = HEAP_MB,
  pictureBytes = PICTURE_BYTES,
  processes = 1,
  residentMb = RESIDENT_MB
}: DocxOptions = {}): Layer.Layer<DocxConverter, never, ReaderProcess> =>
  Layer.effect(
    DocxConverter,
    Effect.map(ReaderProcess, (readers) => {
      const turns = Semaphore.makeUnsafe(processes)
      // An upload does not wait for conversions.
      const looks = Semaphore.makeUnsafe(processes)
      const onePictureBytes = Math.min(pictureBytes, ONE_PICTURE_BYTES)
      const ask = (
        task: Task,
        limits: Pick<Reader, "cpuMs" | "tasks">
      ): Effect.Effect<FromReader, DocxError> =>
        readers.run({ program: READER, heapMb, residentMb, ...limits }, task).pipe(
          Effect.mapError(({ cause, reason }) => docxError(REASONS[reason], cause)),
          Effect.map((answer) => answer as FromReader)
        )
      return DocxConverter.of({
        inspect: (path) =>
          looks
            .withPermit(
              ask({ kind: "inspect", path }, { cpuMs: Math.min(cpuMs, INSPECT_MS), tasks: INSPECTIONS })
            )
            .pipe(
              Effect.mapError(({ cause, message, reason }) =>
                reason === "unavailable"
                  ? new DocumentReaderAway({ cause })
                  : new UnreadableDocument({ message })
              ),
              Effect.flatMap(pagesOf)
            ),
        convert: (path) =>
          turns
            .withPermit(ask({ kind: "convert", path, pictureBytes, onePictureBytes }, { cpuMs, tasks: 1 }))
            .pipe(Effect.flatMap(contentOf))
      })
    })
  )
