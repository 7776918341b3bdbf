import { Effect, Layer } from "effect"

import { MailReader, MailReaderUnavailable, UnreadableMail } from "../../ports/inbound/mails.ts"
import { type Reader, type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import { readHead } from "./read-head.ts"
import type { ReadMail } from "./read-mail.ts"

/** What a mail may use. One of 40 MB takes 4 s and 250 MB. */
export interface MailReaderOptions {
  /** Processor time, milliseconds. */
  readonly cpuMs?: number
  /** The longest by the clock. */
  readonly stallMs?: number
  readonly heapMb?: number
  readonly residentMb?: number
}

const CPU_MS = 30_000
const HEAP_MB = 384
const RESIDENT_MB = 768

/** Mails that one process reads before it is replaced. */
const TASKS = 100

/** From a build the file has the ending that this one has. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./mail-reader-program.ts" : "./mail-reader-program.js",
  import.meta.url
)

/** What the mail did to its reader; else the machine is at fault. */
type ReaderFault = Exclude<ReaderEnded["reason"], "unavailable" | "stalled">

const isFault = (reason: ReaderEnded["reason"]): reason is ReaderFault =>
  reason !== "unavailable" && reason !== "stalled"

const WORDS: Readonly<Record<ReaderFault, string>> = {
  timeout: "takes too long",
  memory: "needs too much memory",
  crashed: "ends its reader"
}

/**
 * Parses mails with postal-mime in separate processes. A mail that crashes its process is read once more, by another; one that
 * crashes that, too, is never read again.
 */
export const layerInProcess = ({
  cpuMs = CPU_MS,
  heapMb = HEAP_MB,
  residentMb = RESIDENT_MB,
  stallMs
}: MailReaderOptions = {}): Layer.Layer<MailReader, never, ReaderProcess> =>
  Layer.effect(
    MailReader,
    Effect.map(ReaderProcess, (readers) => {
      const reader: Reader = {
        program: PROGRAM,
        cpuMs,
        heapMb,
        residentMb,
        tasks: TASKS,
        ...(stallMs === undefined ? {} : { stallMs })
      }
      return MailReader.of({
        readHead,
        read: (raw) =>
          readers.run(reader, raw).pipe(
            Effect.retry({ times: 1, while: ({ reason }) => isFault(reason) }),
            Effect.mapError(({ cause, reason }) =>
              isFault(reason)
                ? new UnreadableMail({
                    message: `set aside: reading it ${WORDS[reason]}, twice`,
                    deadly: true
                  })
                : new MailReaderUnavailable({ cause: cause ?? new Error(`the reader is ${reason}`) })
            ),
            Effect.flatMap((answer) => {
              const read = answer as ReadMail
              return read.kind === "read"
                ? Effect.succeed(read.mail)
                : Effect.fail(new UnreadableMail({ message: read.message, deadly: false }))
            })
          )
      })
    })
  )
