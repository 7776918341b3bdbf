import { Effect, Layer } from "effect"

import { SubmissionReader, SubmissionUnread } from "../../ports/mail/submission-reader.ts"
import { type Reader, type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import type { SubmissionAnswer } from "./submission-program.ts"

/** What a mail of a megabyte may use. */
const READER: Reader = {
  // From a build the file has the ending that this one has.
  program: new URL(
    import.meta.url.endsWith(".ts") ? "./submission-program.ts" : "./submission-program.js",
    import.meta.url
  ),
  cpuMs: 10_000,
  stallMs: 60_000,
  heapMb: 192,
  residentMb: 512,
  tasks: 1_000
}

const unread = ({ reason }: ReaderEnded): SubmissionUnread =>
  reason === "unavailable" || reason === "stalled"
    ? new SubmissionUnread({ reason: "unavailable", message: "the mail cannot be read now" })
    : new SubmissionUnread({ reason: "unreadable", message: "reading it takes too much" })

/** Reads mails with postal-mime in separate processes. One that ends its process is read once more, by another. */
export const layer: Layer.Layer<SubmissionReader, never, ReaderProcess> = Layer.effect(
  SubmissionReader,
  Effect.map(ReaderProcess, (readers) =>
    SubmissionReader.of({
      read: Effect.fnUntraced(function* (raw) {
        const answer = yield* readers.run(READER, raw).pipe(
          Effect.retry({ times: 1 }),
          Effect.mapError(unread),
          Effect.map((found) => found as SubmissionAnswer)
        )
        return answer.kind === "read"
          ? answer.mail
          : yield* new SubmissionUnread({ reason: "unreadable", message: answer.message })
      })
    })
  )
)
