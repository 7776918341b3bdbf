import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"

import { JobStatus } from "../../../src/domain/conversion/job.ts"
import { type WaitFacts, WaitsFor, waitsFor } from "../../../src/domain/conversion/waiting.ts"

const facts: WaitFacts = {
  jobStatus: "pending",
  requested: 300,
  silent: null,
  due: -300,
  others: 0,
  anySilent: null,
  submitted: null,
  dayLeft: 4000
}

/** The batch lane gives up after 26 hours. */
const BATCH = 93_600
const why = (parts: Partial<WaitFacts>) => {
  const { cause, seconds } = waitsFor({ ...facts, ...parts }, BATCH)
  return [cause, seconds]
}

describe("what a conversion waits for (DOC-17)", () => {
  it("names each cause, and since when", () => {
    assert.deepStrictEqual(why({ jobStatus: "waiting_batch", submitted: 7200 }), ["batch", 7200])
    assert.deepStrictEqual(why({ jobStatus: "waiting_batch" }), ["batch", 300])
    assert.deepStrictEqual(why({ jobStatus: "paused_budget", anySilent: 3 }), ["budget", 300])
    assert.deepStrictEqual(why({ silent: 4 }), ["page", 4])
    assert.deepStrictEqual(why({ silent: 80, anySilent: 2 }), ["takeover", 80])
    assert.deepStrictEqual(why({ due: 45 }), ["retry", 45])
    assert.deepStrictEqual(why({ anySilent: 9, others: 3 }), ["turn", 300])
    assert.deepStrictEqual(why({ jobStatus: null, due: null, requested: 4 }), ["turn", 4])
    assert.deepStrictEqual(why({}), ["worker", 300])
    assert.deepStrictEqual(why({ anySilent: 600 }), ["worker", 300])
  })

  it("says when it goes on at the latest: with the new day's budget, or without the batch", () => {
    const within = (parts: Partial<WaitFacts>) => waitsFor({ ...facts, ...parts }, BATCH).within
    assert.strictEqual(within({ jobStatus: "paused_budget" }), 4000)
    assert.strictEqual(within({ jobStatus: "waiting_batch" }), BATCH - 300)
    assert.strictEqual(within({ jobStatus: "waiting_batch", requested: BATCH + 1 }), 0)
    assert.isNull(within({ silent: 4 }))
    assert.isNull(within({}))
  })

  it("is a worker's silence for a minute, and a claim within fifteen seconds", () => {
    assert.deepStrictEqual(why({ silent: 59 }), ["page", 59])
    assert.deepStrictEqual(why({ silent: 60 }), ["takeover", 60])
    assert.deepStrictEqual(why({ due: 0 }), ["worker", 300])
    assert.deepStrictEqual(why({ due: 1 }), ["retry", 1])
    assert.deepStrictEqual(why({ requested: 14 }), ["turn", 14])
    assert.deepStrictEqual(why({ requested: 15 }), ["worker", 15])
    assert.deepStrictEqual(why({ anySilent: 59 }), ["turn", 300])
    assert.deepStrictEqual(why({ anySilent: 60 }), ["worker", 300])
  })

  it("has a word for each cause", () => {
    const causes = ["page", "turn", "worker", "takeover", "retry", "budget", "batch"] as const
    for (const cause of causes)
      assert.isTrue(Schema.is(WaitsFor)({ cause, seconds: 1, others: 0, within: null }), cause)
    assert.isFalse(Schema.is(WaitsFor)({ cause: "other", seconds: 1, others: 0, within: null }))
  })

  const seconds = fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: null })
  const any = fc.record({
    jobStatus: fc.constantFrom(null, ...JobStatus.literals),
    requested: fc.nat(10_000),
    silent: seconds,
    due: fc.option(fc.integer({ min: -10_000, max: 10_000 }), { nil: null }),
    others: fc.nat(1000),
    anySilent: seconds,
    submitted: seconds,
    dayLeft: fc.integer({ min: 1, max: 86_400 })
  })

  it("never blames absent workers while one was heard of, and counts no time below 0", () => {
    fc.assert(
      fc.property(any, (seen) => {
        const { cause, others, seconds: time } = waitsFor(seen, BATCH)
        if ([seen.silent, seen.anySilent].some((one) => one !== null && one < 60))
          assert.notStrictEqual(cause, "worker")
        if (cause === "page" || cause === "takeover") assert.strictEqual(time, seen.silent)
        assert.isAtLeast(time, 0)
        assert.strictEqual(others, seen.others)
      })
    )
  })
})
