import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"

import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { suite } from "../../../contracts/batch/batch-store/index.ts"
import {
  claimAs,
  endWith,
  jobOf,
  PRICE,
  release,
  rowOf,
  stuckRow
} from "../../../contracts/batch/batch-store/rows.ts"
import { clean, parked } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

suite("PostgreSQL", postgres)

layer(postgres, { excludeTestServices: true })("batch rows on PostgreSQL", (it) => {
  it.effect("X3: a release meets a submission, a cancel and a close", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      const conversions = yield* ConversionStore
      const job = { arn: "arn:y", name: "n", pollIn: Duration.zero, giveUpIn: Duration.hours(26) }

      const submitting = yield* stuckRow
      assert.isUndefined(yield* whileOpen(store.submitted(submitting.claimed, job), release))
      const row = yield* rowOf(submitting.jobId)
      assert.deepStrictEqual(
        [row?.state, row?.closeReason],
        ["submitted", null],
        "it is on its way after all"
      )
      assert.strictEqual((yield* jobOf(submitting.jobId)).status, "waiting_batch")

      const cancelled = yield* stuckRow
      assert.isUndefined(yield* whileOpen(conversions.cancel(cancelled.jobId), release))
      assert.strictEqual((yield* jobOf(cancelled.jobId)).status, "cancelled")

      const dropped = yield* stuckRow
      const end = { ...endWith(dropped.claimed.id, dropped.jobId), cost: undefined }
      assert.isUndefined(yield* whileOpen(store.drop(dropped.claimed, end), release))
      assert.strictEqual((yield* jobOf(dropped.jobId)).status, "waiting_batch", "its driver resumes it")
    })
  )

  it.effect("model and price stay with the records while another preparer uploads its own", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      yield* parked(3)
      const old = (yield* claimAs(anyId(), anyId(), 1))!
      const taken = (yield* claimAs(anyId(), anyId(), 2))!
      const input = { prefix: "p/", records: 1, shards: 2, bytes: 1, model: "m2", price: PRICE }
      const late = { ...input, model: "m3", price: { inputUsdPerMtok: 7, outputUsdPerMtok: 7 } }
      assert.isFalse(yield* whileOpen(store.uploaded(taken, input), store.uploaded(old, late)))
      const again = (yield* claimAs(anyId(), anyId(), 3))!
      assert.deepStrictEqual([again.model, again.inputPrefix], ["m2", "p/"])
    })
  )
})
