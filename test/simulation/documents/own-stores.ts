import { Context, Effect, Layer } from "effect"

import { type Documents, MemoryDocuments } from "../../../src/adapters/memory/documents/state.ts"
import type { BatchReplay } from "../../../src/application/batch/replay.ts"
import { type OwnStore, ownStoresLayer } from "../../../src/application/own-stores.ts"
import { resultsKey } from "../../../src/domain/batch/keys.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"

type Replay = BatchReplay["Service"]

/** A part of the database, on the one of this world. */
export const builtOn = <I, S>(
  db: Documents,
  key: Context.Key<I, S>,
  layer: Layer.Layer<I, never, MemoryDocuments>
): S =>
  Effect.runSync(
    Effect.map(
      Effect.scoped(Layer.build(Layer.provide(layer, Layer.succeed(MemoryDocuments, db)))),
      Context.get(key)
    )
  )

/** The batch store of a process, as it compares it with the one that the database knows; `isSet`: its settings name it. */
export const ownBatchStore = (isSet: boolean) =>
  Layer.unwrap(
    Effect.map(BatchObjects, (objects) => {
      const store: OwnStore = {
        name: "batch",
        objects,
        place: isSet ? "s3://batch" : undefined,
        shown: isSet ? "s3://batch" : "a folder"
      }
      return isSet ? ownStoresLayer([store]) : ownStoresLayer([], store)
    })
  )

/** A page's answer in a results file. */
interface KeptAnswer {
  readonly page: number
  readonly text: string
  readonly stopReason: string | null
}

/**
 * The replay of batch results: a page that the lane has an answer of is never asked about on demand (B3). It looks at the store that the
 * lane writes to, whichever store the process has. Nothing is compared that this world never changes: model and prompt.
 */
export const watchedReplay = (
  replay: Replay,
  objects: ReadonlyMap<string, Uint8Array>,
  violations: Array<string>
): Replay => ({
  over: (chunk, model) =>
    replay.over(chunk, {
      converse: (call, place) =>
        Effect.suspend(() => {
          const bytes = objects.get(resultsKey(chunk.jobId, chunk.chunkIndex))
          const kept =
            bytes === undefined || place.tier !== "hifi-single-pass"
              ? []
              : (JSON.parse(new TextDecoder().decode(bytes)) as { pages: ReadonlyArray<KeptAnswer> }).pages
          if (kept.some(({ page, stopReason }) => page === place.page && stopReason === "end_turn"))
            violations.push("B3: a page was bought on demand that the batch lane had an answer of")
          return model.converse(call, place)
        })
    })
})
