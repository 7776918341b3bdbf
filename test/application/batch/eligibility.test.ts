import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as fc from "fast-check"

import {
  giveUpIn,
  GRACE,
  MAX_COLLECTS,
  STUCK_AFTER,
  waitingWindow,
  isEligible,
  statusAtCreation
} from "../../../src/application/batch/lane-settings.ts"
import { MAX_BATCH_BYTES } from "../../../src/application/batch/shards.ts"
import { FALLBACK_WARNING } from "../../../src/domain/batch/cost.ts"
import type { JobOptions } from "../../../src/domain/conversion/job.ts"

const lane = { on: true, minPages: 600, minRecords: 100 }

/** Options, pages, and whether the job goes through the lane (BATCH-2). */
const ROWS: ReadonlyArray<readonly [what: string, options: JobOptions, pages: number, goes: boolean]> = [
  ["hi-fi of 600 pages", { highFidelity: true }, 600, true],
  ["hi-fi of 599 pages", { highFidelity: true }, 599, false],
  ["the parser named auto", { highFidelity: true, parser: "auto" }, 600, true],
  ["a small bulk item", { highFidelity: true, _batchLane: true }, 100, true],
  ["one with fewer pages than a batch job needs", { highFidelity: true, _batchLane: true }, 99, false],
  ["a small item that is urgent", { highFidelity: true, _batchLane: false }, 1, false],
  ["a large free reflow", { highFidelity: true, _compedFlyerJobId: "f" }, 600, true],
  ["not hi-fi", {}, 5_000, false],
  ["not hi-fi, of the bulk programme", { _batchLane: true }, 5_000, false],
  ["hi-fi switched off", { highFidelity: false, _batchLane: true }, 5_000, false],
  ["another parser", { highFidelity: true, parser: "harness", _batchLane: true }, 5_000, false],
  ["the layout tier", { highFidelity: true, parser: "layout", _batchLane: true }, 5_000, false],
  ["math OCR of whole chunks", { highFidelity: true, mathOcr: true, _batchLane: true }, 5_000, false]
]

describe("who goes through the batch lane", () => {
  for (const [what, options, totalPages, goes] of ROWS) {
    it(`${what}: ${goes ? "waits for the batch" : "on demand"}`, () => {
      assert.strictEqual(isEligible({ options, totalPages }, lane), goes)
      assert.strictEqual(statusAtCreation({ options, totalPages }, lane), goes ? "waiting_batch" : "pending")
      assert.strictEqual(statusAtCreation({ options, totalPages }, { ...lane, on: false }), "pending")
    })
  }

  it("is every job of at least the threshold, for every threshold", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 5_000 }), (pages, least) => {
        const job = { options: { highFidelity: true }, totalPages: pages }
        assert.strictEqual(isEligible(job, { on: true, minPages: least, minRecords: 1 }), pages >= least)
      })
    )
  })
})

describe("the constants of the batch lane", () => {
  it("are these", () => {
    assert.deepStrictEqual(
      [
        Duration.toHours(GRACE),
        Duration.toHours(STUCK_AFTER),
        MAX_COLLECTS,
        FALLBACK_WARNING,
        MAX_BATCH_BYTES
      ],
      [2, 2, 5, 0.2, 4_500_000_000]
    )
  })

  it("the driver gives up two hours after the time-out; funds wait 90 minutes longer", () => {
    for (const timeoutHours of [24, 100, 168]) {
      assert.strictEqual(Duration.toHours(giveUpIn({ timeoutHours })), timeoutHours + 2)
      assert.strictEqual(Duration.toHours(waitingWindow({ timeoutHours })), timeoutHours + 3.5)
    }
  })
})
