import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { layerPdf } from "../../../../src/adapters/pdf/pdf.ts"
import { ReaderThread } from "../../../../src/adapters/pdf/reader-thread.ts"
import { Pdf } from "../../../../src/ports/conversion/pdf.ts"
import { temporaryPdf } from "../../../support/files/pdf-files.ts"
import { articleOf } from "../../../support/files/pdf-hostile.ts"
import { numbered } from "../../../support/files/pdf-samples.ts"

const PATIENCE_MS = 60_000

/** Longer chains cannot be copied on any stack: such a page has no document of its own. */
const MOST_COPIED = 5_000

layer(layerPdf({ threads: 1 }))("traps", (it) => {
  // As long books have them, and longer than any stack is deep.
  for (const beads of [1_000, 4_000, 60_000])
    it.effect(`a page in an article of ${beads} parts is read, and the others are`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const document = yield* (yield* Pdf).open(yield* temporaryPdf(articleOf(beads)))
          const range = { first: 0, end: 3 }
          const pages = yield* Stream.runCollect(document.layout(range))
          assert.deepStrictEqual(
            pages.map(({ html }) => html),
            ["first", "second", "third"].map(
              (name) => `<p>What the ${name} page says is confirmed by the master.</p>`
            )
          )
          assert.lengthOf(yield* Stream.runCollect(document.pages(range)), 3)
          if (beads > MOST_COPIED) return
          const split = yield* Stream.runCollect(document.split(range, { words: true }))
          assert.deepStrictEqual(
            split.map(({ bytes }) => bytes.length > 500),
            [true, true, true]
          )
        })
      )
    )
  it.effect(
    "a page that traps however it is read is refused by itself, without another trap, and ends no other page",
    () =>
      Effect.gen(function* () {
        const path = yield* temporaryPdf(numbered(3))
        const thread = yield* Effect.acquireRelease(
          Effect.sync(
            () =>
              new ReaderThread({
                batchPages: 4,
                batchBytes: 1_000_000,
                libraryBytes: 96 * 1024 * 1024,
                pageTimeoutMs: PATIENCE_MS
              })
          ),
          (one) => Effect.promise(() => one.stop())
        )
        const trap = { page: 1, doing: "reading", reason: "crashed" } as const
        const ask = (first: number, traps: ReadonlyArray<typeof trap>) =>
          thread.ask({
            document: 1,
            path,
            fonts: [],
            traps,
            operation: "layout",
            first,
            end: 3,
            argument: undefined
          })
        assert.lengthOf((yield* ask(0, [trap])).items, 3)
        // The sample of the document is counted without it.
        const { failure, items, trap: another } = yield* ask(0, [trap, trap])
        assert.deepStrictEqual(
          [items.length, failure?.reason, failure?.page, another],
          [1, "crashed", 1, undefined]
        )
        assert.lengthOf((yield* ask(2, [trap, trap])).items, 1)
      })
  )
})
