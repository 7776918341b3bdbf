import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { whenUserActs } from "../../../../src/domain/batch/row.ts"
import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { clean, DocumentsWorld, parked, WINDOW } from "../../conversion/documents-world.ts"
import { jobOf, rowOf, type Stores } from "./rows.ts"

/** What an owner does to a job that waits for its batch. */
export const ownersActs = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`what an owner does to a batch row: ${name}`, (it) => {
    for (const found of ["none", "preparing", "submitted", "closed"] as const) {
      const act = whenUserActs(found)
      const made = Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const ids = yield* parked(3)
        if (found !== "none") yield* world.addBatchRow(ids.jobId, found)
        return ids
      })

      it.effect(`Process now on a row that is ${found}`, () =>
        Effect.gen(function* () {
          const { jobId } = yield* made
          const store = yield* BatchStore
          const answer = yield* store.makeInteractive(jobId, WINDOW)
          assert.strictEqual(answer, found === "closed" ? "closed" : "resumed")
          const row = yield* rowOf(jobId)
          assert.deepStrictEqual(
            [row?.state, row?.closeReason],
            [act.state, act.reason ? "user chose interactive" : null]
          )
          if (found !== "closed")
            assert.strictEqual(yield* store.makeInteractive(jobId, WINDOW), "not_waiting")
        })
      )

      for (const [by, reason] of [
        ["cancel", "Cancelled by user"],
        ["delete", "Cancelled: the source file was deleted"]
      ] as const)
        it.effect(`${by} on a row that is ${found}`, () =>
          Effect.gen(function* () {
            const { fileId, jobId, owner } = yield* made
            const store = yield* ConversionStore
            yield* by === "cancel" ? store.cancel(jobId) : store.deleteFile(fileId, owner)
            const row = yield* rowOf(jobId)
            assert.deepStrictEqual([row?.state, row?.closeReason], [act.state, act.reason ? reason : null])
            const outcome = found === "none" ? "skipped" : found === "closed" ? "collected" : null
            assert.strictEqual(row?.outcome, outcome)
            const { chunks, status } = yield* jobOf(jobId)
            assert.deepStrictEqual([status, chunks], ["cancelled", ["cancelled"]])
          })
        )
    }
  })
