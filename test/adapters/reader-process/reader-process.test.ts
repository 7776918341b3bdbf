import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layerDocx } from "../../../src/adapters/docx/docx-converter.ts"
import { layerInProcess } from "../../../src/adapters/postal-mime/process-mail-reader.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { DocxConverter } from "../../../src/ports/conversion/documents.ts"
import { MailReader } from "../../../src/ports/inbound/mails.ts"
import { MailObjects } from "../../../src/ports/object-store.ts"
import { type Reader, ReaderEnded, ReaderProcess as Readers } from "../../../src/ports/reader-process.ts"

const LIMITS = { cpuMs: 1000, heapMb: 64, residentMb: 256, tasks: 1 }

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

/** A reader whose program is this JavaScript. */
const reading = (javascript: string, limits: Partial<Reader> = {}): Reader => ({
  ...LIMITS,
  program: new URL(
    `data:text/javascript,${encodeURIComponent(`export default (task) => { ${javascript} }`)}`
  ),
  ...limits
})
const WAIT = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, task)"

layer(ReaderProcess.layer)("H1: a task has processor time of its own", (it) => {
  it.effect("what it waits for, or what others use, is not counted", () =>
    Effect.gen(function* () {
      const { run } = yield* Readers
      assert.strictEqual(yield* run(reading(`${WAIT}; return "done"`, { cpuMs: 300 }), 1_000), "done")
    })
  )

  it.effect("a task that uses more is ended, and so is one that gets nowhere: for another reason", () =>
    Effect.gen(function* () {
      const { run } = yield* Readers
      const spins = yield* Effect.flip(run(reading("for (;;) {}", { cpuMs: 200 }), 0))
      assert.strictEqual(spins.reason, "timeout")
      const waits = yield* Effect.flip(run(reading(WAIT, { stallMs: 300 }), 60_000))
      assert.strictEqual(waits.reason, "stalled")
    })
  )

  it.effect("each task of a process begins anew", () =>
    Effect.gen(function* () {
      const { run } = yield* Readers
      const spin = "const end = performance.now() + task; while (performance.now() < end); return process.pid"
      const reader = reading(spin, { cpuMs: 1_000, tasks: 5 })
      const pids = yield* Effect.forEach([400, 400, 400, 400], (ms) => run(reader, ms))
      assert.lengthOf(new Set(pids), 1)
    })
  )
})

const endingBy = (reason: ReaderEnded["reason"]) =>
  Layer.succeed(Readers, { run: () => Effect.fail(new ReaderEnded({ reason, cause: "no memory" })) })

for (const [reason, about] of [
  ["unavailable", "where no process can be started"],
  ["stalled", "where a process gets no time on a swamped machine"]
] as const)
  layer(Layer.mergeAll(layerDocx(), layerInProcess()).pipe(Layer.provide(endingBy(reason))))(about, (it) => {
    it.effect("neither a Word document nor a mail is at fault", () =>
      Effect.gen(function* () {
        const { convert, inspect } = yield* DocxConverter
        const { read } = yield* MailReader
        assert.strictEqual((yield* Effect.flip(convert("/a.docx"))).reason, "unavailable")
        assert.strictEqual((yield* Effect.flip(inspect("/a.docx")))._tag, "DocumentReaderAway")
        assert.strictEqual((yield* Effect.flip(read("mail", 1)))._tag, "MailReaderUnavailable")
      }).pipe(Effect.provide(Layer.mock(MailObjects, { localPath: () => Effect.succeed("/mail") })))
    )
  })
