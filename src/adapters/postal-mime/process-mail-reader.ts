import { createReadStream } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Layer, type Stream } from "effect"

import { MailReaderUnavailable } from "../../ports/inbound/mail-reader-unavailable.ts"
import { MailReader, UnreadableMail } from "../../ports/inbound/mails.ts"
import { MailObjects, ObjectStoreError } from "../../ports/object-store.ts"
import { type Reader, type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import type { ReadingAnswer, ReadingTask } from "./mail-reader-program.ts"
import { readHead } from "./read-head.ts"

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

const away = (cause: unknown) => new MailReaderUnavailable({ cause })

/** A folder for a mail's parts, until the scope closes. */
const folder = Effect.acquireRelease(
  Effect.tryPromise({ try: () => mkdtemp(join(tmpdir(), "postlane-mail-")), catch: away }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/**
 * Opens the file only when it is read. The PDFs of a refused mail, or of one that cannot be stored, are never read, and a stream
 * that is already opening fails without a listener when the folder is removed, which ends the process.
 */
const fileOf = (path: string): Stream.Stream<Uint8Array, MailReaderUnavailable> =>
  NodeStream.fromReadable<Uint8Array, MailReaderUnavailable>({
    evaluate: () => createReadStream(path),
    onError: away
  })

/**
 * Parses mails with postal-mime in separate processes, which read a mail from its file and leave the PDFs in it in files: what goes
 * through this process is small, however large the mail is (H1). A mail that crashes its process is read once more, by another; one that
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
        read: Effect.fnUntraced(function* (key, bytes) {
          const objects = yield* MailObjects
          const task: ReadingTask = { path: yield* objects.localPath(key), folder: yield* folder }
          const answer = yield* readers.run(reader, task).pipe(
            Effect.retry({ times: 1, while: ({ reason }) => isFault(reason) }),
            Effect.mapError(({ cause, reason }) =>
              isFault(reason)
                ? new UnreadableMail({
                    message: `set aside: reading it ${WORDS[reason]}, twice`,
                    deadly: true
                  })
                : away(cause ?? new Error(`the reader is ${reason}`))
            ),
            Effect.map((found) => found as ReadingAnswer)
          )
          if (answer.rawBytes !== bytes) {
            const cause = new Error(`${answer.rawBytes} of ${bytes} bytes`)
            return yield* new ObjectStoreError({ reason: "unavailable", key, cause })
          }
          if (answer.kind === "unreadable")
            return yield* new UnreadableMail({ message: answer.message, deadly: false })
          const parts = answer.mail.parts.map(({ pdfPath, ...part }) => ({
            ...part,
            pdf: pdfPath === undefined ? undefined : fileOf(pdfPath)
          }))
          return { mail: { ...answer.mail, parts }, rawSha256: answer.rawSha256 }
        })
      })
    })
  )
