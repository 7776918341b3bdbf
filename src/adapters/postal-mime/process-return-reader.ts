import { Effect, Layer } from "effect"

import { ReturnReader, ReturnUnread } from "../../ports/delivery/return-reader.ts"
import { type Reader, type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import type { ReturnAnswer } from "./read-return.ts"
import { mailOfAnswer } from "./return-reader.ts"

/** What the beginning of a report may use. */
const READER: Reader = {
  // From a build the file has the ending that this one has.
  program: new URL(
    import.meta.url.endsWith(".ts") ? "./return-program.ts" : "./return-program.js",
    import.meta.url
  ),
  cpuMs: 5_000,
  stallMs: 60_000,
  heapMb: 128,
  residentMb: 384,
  tasks: 1_000
}

const unread = ({ reason }: ReaderEnded): ReturnUnread =>
  reason === "unavailable" || reason === "stalled"
    ? new ReturnUnread({ reason: "unavailable", message: "it cannot be read now" })
    : new ReturnUnread({ reason: "unreadable", message: "reading it takes too much" })

/** Reads reports in separate processes. One that ends its process is read once more, by another. */
export const layerInProcess: Layer.Layer<ReturnReader, never, ReaderProcess> = Layer.effect(
  ReturnReader,
  Effect.map(ReaderProcess, (readers) =>
    ReturnReader.of({
      read: (raw) =>
        readers.run(READER, raw).pipe(
          Effect.retry({ times: 1 }),
          Effect.mapError(unread),
          Effect.flatMap((answer) => mailOfAnswer(answer as ReturnAnswer))
        )
    })
  )
)
