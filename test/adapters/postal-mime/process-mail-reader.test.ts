import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { serialize } from "node:v8"

import { assert, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import type { ReadingTask } from "../../../src/adapters/postal-mime/mail-reader-program.ts"
import { layerInProcess } from "../../../src/adapters/postal-mime/process-mail-reader.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { MailReader } from "../../../src/ports/inbound/mails.ts"
import { MailObjects } from "../../../src/ports/object-store.ts"
import { ReaderProcess as Readers } from "../../../src/ports/reader-process.ts"
import { largestMail } from "../../hostile/mails.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { TEMPORARY } from "../../support/temporary.ts"
import { rawMail } from "../../support/worlds/edge-mail.ts"

/** The same processes; bytes that go to them and come back are counted. */
const counting = (seen: { bytes: number; folder: string }) =>
  Layer.effect(
    Readers,
    Effect.map(Readers, ({ run }) => ({
      run: (reader, task) =>
        Effect.suspend(() => {
          seen.bytes += serialize(task).length
          seen.folder = (task as ReadingTask).folder
          return Effect.tap(run(reader, task), (answer) =>
            Effect.sync(() => void (seen.bytes += serialize(answer).length))
          )
        })
    }))
  ).pipe(Layer.provide(ReaderProcess.layer))

/** Objects on disk for the test, with the mail in them, and the mail's length. */
const stored = (raw: Uint8Array) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(TEMPORARY, "postlane-reading-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    )
    const objects = makeDiskObjects(folder)
    yield* objects.put("mail", Stream.make(raw), { contentType: "message/rfc822" })
    return objects
  })

const lengthOf = <E>(pdf: Stream.Stream<Uint8Array, E>) =>
  Stream.runFold(
    pdf,
    () => 0,
    (sum, piece) => sum + piece.length
  )

it.live(
  "a PDF's file is opened by each reading of it: one that could not be stored is read once more, and one that nobody reads fails nobody",
  () =>
    Effect.gen(function* () {
      const pdf = numbered(1)
      const attachment = { filename: "a.pdf", content: Buffer.from(pdf) }
      const raw = yield* Effect.promise(() => rawMail({ from: "ann@reader.test", attachments: [attachment] }))
      const objects = yield* stored(raw)
      const read = Effect.flatMap(MailReader, (reader) => reader.read("mail", raw.length))
      const twice = Effect.gen(function* () {
        const part = (yield* read).mail.parts[0]
        const content = part?.pdf ?? Stream.empty
        return [yield* lengthOf(content), yield* lengthOf(content)]
      })
      const lengths = yield* Effect.andThen(
        Effect.replicateEffect(Effect.scoped(read), 20, { discard: true }),
        Effect.scoped(twice)
      ).pipe(
        Effect.provide(Layer.provide(layerInProcess(), ReaderProcess.layer)),
        Effect.provideService(MailObjects, objects)
      )
      assert.deepStrictEqual(lengths, [pdf.length, pdf.length])
    })
)

it.live(
  "H1: the largest mail goes to its reader as a path, and its PDF comes back as a file that goes with the scope",
  () =>
    Effect.gen(function* () {
      const raw = largestMail(numbered(1), "")
      const objects = yield* stored(raw)
      const seen = { bytes: 0, folder: "" }
      const reading = Effect.gen(function* () {
        const { mail } = yield* (yield* MailReader).read("mail", raw.length)
        const [part] = mail.parts
        const pdf = part?.pdf ?? Stream.empty
        return {
          bytes: part?.bytes,
          read: yield* lengthOf(pdf)
        }
      })
      const found = yield* reading.pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(layerInProcess(), counting(seen))),
        Effect.provideService(MailObjects, objects)
      )
      assert.deepStrictEqual(found, { bytes: 25 * 1024 * 1024, read: 25 * 1024 * 1024 })
      assert.isBelow(seen.bytes, 16 * 1024)
      assert.isFalse(existsSync(seen.folder), "nothing is left")
    })
)
