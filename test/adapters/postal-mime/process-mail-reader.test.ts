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

it.live(
  "H1: the largest mail goes to its reader as a path, and its PDF comes back as a file that goes with the scope",
  () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(TEMPORARY, "postlane-reading-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const objects = makeDiskObjects(folder)
      const raw = largestMail(numbered(1), "")
      yield* objects.put("mail", Stream.make(raw), { contentType: "message/rfc822" })
      const seen = { bytes: 0, folder: "" }
      const reading = Effect.gen(function* () {
        const { mail } = yield* (yield* MailReader).read("mail", raw.length)
        const [part] = mail.parts
        const pdf = part?.pdf ?? Stream.empty
        return {
          bytes: part?.bytes,
          read: yield* Stream.runFold(
            pdf,
            () => 0,
            (sum, piece) => sum + piece.length
          )
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
    }),
  120_000
)
