import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { MAX_DOCUMENT_BYTES } from "../../../src/domain/cascade/model-call.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { PdfError } from "../../../src/reader/model/pdf-document.ts"
import { driverTick } from "../../application/batch/world/tick.ts"
import {
  clean,
  convertAll,
  isClosed,
  Knobs,
  laneWorld,
  parked,
  rowOf,
  settingsOf,
  tickUntil
} from "../../application/batch/world/world.ts"

layer(laneWorld, { excludeTestServices: true })("a page that is left out", (it) => {
  it.effect("since it cannot be read, or is too large for the model, keeps no other out of the batch", () =>
    Effect.gen(function* () {
      yield* clean
      const { calls } = yield* Knobs
      const sources = yield* PageSources
      const unread = Effect.fail(new PdfError({ reason: "broken", message: "broken" }))
      const large = Effect.succeed(new Uint8Array(MAX_DOCUMENT_BYTES + 1))
      const { jobId } = yield* parked(5)
      const settings = settingsOf()
      yield* driverTick(settings, 1).pipe(
        Effect.provideService(PageSources, {
          ...sources,
          open: (key, range) =>
            Effect.map(sources.open(key, range), (pages) => ({
              page: (index: number) => {
                if (index === 1) return unread
                return Effect.map(pages.page(index), (page) => {
                  if (index === 2) return { ...page, pdf: unread }
                  return index === 3 ? { ...page, pdf: large } : page
                })
              }
            }))
        })
      )
      yield* tickUntil(settings, isClosed(jobId))
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual([row?.outcome, row?.records, row?.accepted], ["collected", 2, 2])
      yield* convertAll()
      assert.deepStrictEqual(
        calls.map(({ page }) => page),
        [1, 2, 3],
        "the chunk processor calls for those that were left out"
      )
    })
  )
})
