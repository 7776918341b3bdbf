import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  assumedPageUsd,
  batchCost,
  batchCostEntry,
  fallbackShare,
  savedUsd
} from "../../../src/domain/batch/cost.ts"
import { inputPrefix, preparedOf, preparedPrefix } from "../../../src/domain/batch/keys.ts"
import { accepted, recordId } from "../../../src/domain/batch/record.ts"
import { BatchOutcome, BatchRowState, BatchStatus } from "../../../src/domain/batch/row.ts"
import { anyId } from "../../support/any-id.ts"

const PRICE = { inputUsdPerMtok: 3, outputUsdPerMtok: 15 }
const usage = { inputTokens: 1_000_000, outputTokens: 100_000 }
const tally = { returned: 10, usage, acceptedUsage: usage, accepted: 8, fallback: 2 }

describe("what a batch job costs", () => {
  it("BATCH-30: is half of the list price of all that it returned", () => {
    assert.strictEqual(batchCost(tally, PRICE), 2.25)
    // A dense page's tokens.
    assert.strictEqual(assumedPageUsd(PRICE), 0.021)
  })

  it("BATCH-21: falls back by the share of the submitted pages, none where there were none", () => {
    assert.strictEqual(fallbackShare(tally), 0.2)
    assert.strictEqual(fallbackShare({ ...tally, accepted: 0 }), 1)
    assert.strictEqual(fallbackShare({ ...tally, accepted: 2, fallback: 2 }), 0.5)
    assert.strictEqual(fallbackShare({ ...tally, accepted: 0, fallback: 0 }), 0)
  })

  it("saves what its served answers would have cost on demand, less its own cost", () => {
    const batch = { accepted: 8, served: 8, onDemandUsd: 4.5, costUsd: 2.25 }
    assert.strictEqual(savedUsd(batch), 2.25)
    assert.strictEqual(savedUsd({ ...batch, served: 4 }), 0)
    assert.strictEqual(savedUsd({ ...batch, served: 0 }), -2.25)
    assert.strictEqual(savedUsd({ ...batch, accepted: 0, served: 0, onDemandUsd: 0 }), -2.25)
  })

  it("BATCH-30: is one entry, marked as the lane's, and none where nothing came back", () => {
    const batch = { id: "b", jobId: anyId("j"), arn: "arn", model: "m", end: "Completed" } as const
    assert.deepInclude(batchCostEntry(batch, tally, PRICE)?.metadata, {
      batch: true,
      batchMultiplier: 0.5,
      accepted: 8,
      fallback: 2,
      returned: 10,
      endState: "Completed",
      onDemandUsd: 4.5
    })
    assert.isUndefined(batchCostEntry(batch, { ...tally, returned: 0 }, PRICE))
  })
})

describe("what a batch is made of", () => {
  it("a folder that the service reads leads back to its prepare, and no other does", () => {
    const prepared = preparedPrefix(anyId("job"), anyId("lease"))
    assert.strictEqual(preparedOf(inputPrefix(prepared)), prepared)
    for (const foreign of [prepared, `${prepared}output/`, `${prepared}input`, "", "xinput/"])
      assert.isUndefined(preparedOf(foreign))
  })

  it("an answer that was cut off or held back is none, and its tokens are billed", () => {
    const stops = ["end_turn", undefined, "max_tokens", "content_filtered", "guardrail_intervened", "refusal"]
    fc.assert(
      fc.property(fc.constantFrom("", "text"), fc.constantFrom(...stops), (text, stopReason) => {
        const record = { recordId: recordId({ chunkIndex: 1, page: 2 }), usage, answer: { text, stopReason } }
        const isUsable = text !== "" && (stopReason === "end_turn" || stopReason === undefined)
        assert.deepStrictEqual(accepted(record), isUsable ? record : { ...record, answer: undefined })
      })
    )
    const failed = { recordId: "c1-p2", usage, answer: undefined }
    assert.deepStrictEqual(accepted(failed), failed)
  })

  it("has these states, ends and statuses (B1)", () => {
    assert.deepStrictEqual(BatchRowState.literals, ["preparing", "submitted", "closed"])
    assert.deepStrictEqual(BatchOutcome.literals, ["collected", "skipped", "failed", "expired"])
    assert.deepStrictEqual(
      BatchStatus.literals.filter(
        (status) => status.endsWith("ed") && !/^(?:Submitted|Scheduled)$/.test(status)
      ),
      ["Completed", "PartiallyCompleted", "Failed", "Stopped", "Expired"]
    )
    assert.deepStrictEqual(
      BatchStatus.literals.filter((status) => /ing$|^Submitted$|^Scheduled$|^InProgress$/.test(status)),
      ["Submitted", "Validating", "Scheduled", "InProgress", "Stopping"]
    )
  })
})
