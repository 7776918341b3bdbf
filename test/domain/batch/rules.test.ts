import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"

import { withoutCachePoints, promptHash } from "../../../src/domain/batch/capture.ts"
import { batchCostEntry, type BatchTally, fallbackShare } from "../../../src/domain/batch/cost.ts"
import { placeOf, recordId } from "../../../src/domain/batch/record.ts"
import {
  BatchRowState,
  BatchStatus,
  moveBatchRow,
  resumePatch,
  verdictOf,
  whenUserActs
} from "../../../src/domain/batch/row.ts"
import type { ConverseRequest } from "../../../src/domain/conversion/cascade/converse.ts"
import { visionRequest } from "../../../src/domain/conversion/cascade/vision.ts"

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
  it("is c<chunk>-p<page>, and is read back", () => {
    assert.strictEqual(recordId({ chunkIndex: 3, page: 71 }), "c3-p71")
    fc.assert(
      fc.property(fc.nat({ max: 999_999_999 }), fc.nat({ max: 999_999_999 }), (chunkIndex, page) => {
        assert.deepStrictEqual(placeOf(recordId({ chunkIndex, page })), { chunkIndex, page })
      })
    )
  })

  it("is no other text", () => {
    for (const text of [
      "",
      "c1",
      "c01-p1",
      "c1-p01",
      "C1-p1",
      "c1-p1 ",
      "c-1-p1",
      "c1-p1e3",
      `c${"9".repeat(20)}-p1`
    ]) {
      assert.isUndefined(placeOf(text), text)
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        const place = placeOf(text)
        assert.isTrue(place === undefined || recordId(place) === text)
      })
    )
  })
})

const hash = (request: ConverseRequest) =>
  Effect.runPromise(Effect.provide(promptHash(request), NodeCrypto.layer))

const document = (bytes: Uint8Array) => ({
  document: { format: "pdf", name: "page", source: { bytes }, citations: { enabled: true } } as const
})

const requestWith = (
  text: string,
  bytes: Uint8Array,
  parts: Partial<ConverseRequest> = {}
): ConverseRequest => ({
  ...visionRequest("m1", [{ role: "user", content: [document(bytes), { text }] }]),
  ...parts
})

describe("the prompt hash", () => {
  it("does not see page bytes, cache points or the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.uint8Array(), fc.uint8Array(), async (text, a, b) => {
        const first = await hash(requestWith(text, a))
        assert.match(first, /^[\da-f]{64}$/)
        assert.strictEqual(await hash(requestWith(text, b)), first)
        assert.strictEqual(await hash(withoutCachePoints(requestWith(text, a))), first)
        assert.strictEqual(await hash(requestWith(text, a, { modelId: "m2" })), first)
      }),
      { numRuns: 30 }
    )
  })

  it("sees every word, the token limit, the temperature, roles and kinds of content", async () => {
    const bytes = new Uint8Array([1])
    const base = requestWith("a", bytes)
    const { maxTokens, temperature } = base.inferenceConfig
    const others: ReadonlyArray<ConverseRequest> = [
      requestWith("b", bytes),
      requestWith("a", bytes, { system: [{ text: "other" }] }),
      requestWith("a", bytes, { system: [] }),
      requestWith("a", bytes, { inferenceConfig: { maxTokens: maxTokens + 1, temperature } }),
      requestWith("a", bytes, { inferenceConfig: { maxTokens, temperature: 0.1 } }),
      requestWith("a", bytes, { messages: [{ role: "user", content: [{ text: "a" }] }] }),
      requestWith("a", bytes, {
        messages: [{ role: "user", content: [{ text: "a" }, document(bytes)] }]
      }),
      requestWith("a", bytes, {
        messages: [
          { role: "user", content: [{ image: { format: "png", source: { bytes } } }, { text: "a" }] }
        ]
      }),
      requestWith("a", bytes, {
        messages: [
          { role: "user", content: [document(bytes)] },
          { role: "user", content: [{ text: "a" }] }
        ]
      }),
      requestWith("a", bytes, {
        messages: [{ role: "assistant", content: [document(bytes), { text: "a" }] }]
      })
    ]
    const hashes = await Promise.all([base, ...others].map(hash))
    assert.strictEqual(new Set(hashes).size, hashes.length)
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
const batch = { id: "i", jobId: "j", arn: "arn:x", model: "m", end: "Stopped" } as const

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
