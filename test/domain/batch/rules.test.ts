import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { batchCostEntry, type BatchTally, fallbackShare } from "../../../src/domain/batch/cost.ts"
import { recordId } from "../../../src/domain/batch/record.ts"
import {
  BatchRowState,
  BatchStatus,
  moveBatchRow,
  resumePatch,
  verdictOf,
  whenUserActs
} from "../../../src/domain/batch/row.ts"
import { anyId } from "../../support/any-id.ts"

describe("a batch row", () => {
  it("B1: moves by this table, and no other way", () => {
    const table = BatchRowState.literals.flatMap((state) =>
      (["submit", "drop", "end"] as const).flatMap((move) => {
        const next = moveBatchRow(state, move)
        return next === undefined ? [] : [`${state} | ${move} | ${next}`]
      })
    )
    assert.deepStrictEqual(table, [
      "preparing | submit | submitted",
      "preparing | drop | closed",
      "submitted | end | closed"
    ])
  })

  it("does what the table says when the user acts", () => {
    assert.deepStrictEqual(
      (["none", "preparing", "submitted", "closed"] as const).map((found) => {
        const { reason, state, stop } = whenUserActs(found)
        return `${found} | ${state}${reason ? ", reason" : ""}${stop ? ", stop" : ""}`
      }),
      [
        "none | closed, reason",
        "preparing | preparing, reason",
        "submitted | submitted, reason, stop",
        "closed | closed"
      ]
    )
  })

  it("is polled by this table", () => {
    const lines = (row: { unwanted: boolean; overdue: boolean; abandoned: boolean }) =>
      BatchStatus.literals.map((status) => {
        const verdict = verdictOf({ status, ...row })
        return `${status}: ${verdict.do}${verdict.do === "bill" ? `, ${verdict.outcome}` : ""}`
      })
    const plain = { unwanted: false, overdue: false, abandoned: false }
    assert.deepStrictEqual(lines(plain), [
      "Submitted: wait",
      "Validating: wait",
      "Scheduled: wait",
      "InProgress: wait",
      "Completed: collect",
      "PartiallyCompleted: collect",
      "Failed: bill, failed",
      "Stopping: wait",
      "Stopped: bill, failed",
      "Expired: bill, expired"
    ])
    assert.deepStrictEqual(lines({ ...plain, unwanted: true }), [
      "Submitted: stop",
      "Validating: stop",
      "Scheduled: stop",
      "InProgress: stop",
      "Completed: bill, skipped",
      "PartiallyCompleted: bill, skipped",
      "Failed: bill, failed",
      "Stopping: wait",
      "Stopped: bill, skipped",
      "Expired: bill, expired"
    ])
    assert.deepStrictEqual(lines({ ...plain, overdue: true }), [
      "Submitted: give-up",
      "Validating: give-up",
      "Scheduled: give-up",
      "InProgress: give-up",
      "Completed: collect",
      "PartiallyCompleted: collect",
      "Failed: bill, failed",
      "Stopping: give-up",
      "Stopped: bill, expired",
      "Expired: bill, expired"
    ])
    assert.deepStrictEqual(
      lines({ unwanted: true, overdue: true, abandoned: true }).filter((line) => !line.includes("bill")),
      []
    )
  })

  it("hands its results and its cost on to the job", () => {
    assert.deepStrictEqual(resumePatch({ outcome: "collected", costUsd: 0 }), {
      _batchPrimed: true,
      _batchCostUsd: 0
    })
    assert.deepStrictEqual(resumePatch({ outcome: "expired", costUsd: 0.5 }), { _batchCostUsd: 0.5 })
    assert.deepStrictEqual(resumePatch({ outcome: "failed", costUsd: 0 }), {})
  })
})

describe("a record id", () => {
  it("is c<chunk>-p<page>, one for each page", () => {
    assert.strictEqual(recordId({ chunkIndex: 3, page: 71 }), "c3-p71")
    const index = fc.nat({ max: 999_999_999 })
    fc.assert(
      fc.property(index, index, (chunkIndex, page) => {
        assert.strictEqual(recordId({ chunkIndex, page }), `c${chunkIndex}-p${page}`)
      })
    )
  })
})

const tally: BatchTally = {
  returned: 3,
  usage: { inputTokens: 300, outputTokens: 30 },
  acceptedUsage: { inputTokens: 200, outputTokens: 20 },
  accepted: 2,
  fallback: 2
}
const price = { inputUsdPerMtok: 3, outputUsdPerMtok: 15 }
const batch = { id: "i", jobId: anyId("j"), arn: "arn:x", model: "m", end: "Stopped" } as const

describe("the bill", () => {
  it("is half the list price of every token that came back, used or not", () => {
    const entry = batchCostEntry(batch, tally, price)
    assert.strictEqual(entry?.costUsd, ((300 * 3 + 30 * 15) / 1e6) * 0.5)
    assert.deepStrictEqual(entry?.metadata, {
      batch: true,
      batchMultiplier: 0.5,
      batchJobArn: "arn:x",
      accepted: 2,
      fallback: 2,
      returned: 3,
      endState: "Stopped",
      onDemandUsd: (200 * 3 + 20 * 15) / 1e6
    })
    assert.deepStrictEqual([entry?.source, entry?.backend], ["batch", "chunked-vision"])
  })

  it("is none where nothing came back", () => {
    assert.isUndefined(batchCostEntry(batch, { ...tally, returned: 0 }, price))
  })

  it("tells the share that falls back", () => {
    assert.strictEqual(fallbackShare(tally), 0.5)
    assert.strictEqual(fallbackShare({ ...tally, accepted: 0, fallback: 0 }), 0)
  })
})
