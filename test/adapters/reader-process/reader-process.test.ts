import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layerDocx } from "../../../src/adapters/docx/docx-converter.ts"
import { layerInProcess } from "../../../src/adapters/postal-mime/process-mail-reader.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { DocxConverter } from "../../../src/ports/conversion/documents.ts"
import { MailReader } from "../../../src/ports/inbound/mails.ts"
import { ReaderEnded, ReaderProcess as Readers } from "../../../src/ports/reader-process.ts"

const LIMITS = { timeoutMs: 1000, heapMb: 64, residentMb: 256, tasks: 1 }

layer(ReaderProcess.layer)("I4: a process that cannot be started says nothing about its task", (it) => {
  // A path that no system takes as an argument is refused in the way in which lack of memory is.
  it.effect("where the system refuses it at once, as for lack of memory", () =>
    Effect.gen(function* () {
      const readers = yield* Readers
      // An argument that no system takes is refused at once, as a process is for which there is no memory.
      const program = new URL(`file:///${"a".repeat(3_000_000)}.js`)
      const error = yield* Effect.flip(readers.run({ ...LIMITS, program }, {}))
      assert.strictEqual(error.reason, "unavailable")
    })
  )
})

const away = Layer.succeed(Readers, {
  run: () => Effect.fail(new ReaderEnded({ reason: "unavailable", cause: "no memory" }))
})

layer(Layer.mergeAll(layerDocx(), layerInProcess()).pipe(Layer.provide(away)))(
  "where no process can be started",
  (it) => {
    it.effect("neither a Word document nor a mail is at fault", () =>
      Effect.gen(function* () {
        const { convert, inspect } = yield* DocxConverter
        const { read } = yield* MailReader
        assert.strictEqual((yield* Effect.flip(convert("/a.docx"))).reason, "unavailable")
        assert.strictEqual((yield* Effect.flip(inspect("/a.docx")))._tag, "DocumentReaderAway")
        assert.strictEqual((yield* Effect.flip(read(new Uint8Array(1))))._tag, "MailReaderUnavailable")
      })
    )
  }
)
