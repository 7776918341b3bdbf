import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { JobStatus } from "../../../src/domain/conversion/job.ts"
import { type WaitFacts, waitsFor } from "../../../src/domain/conversion/waiting.ts"

const facts: WaitFacts = {
  jobStatus: "pending",
  requested: 300,
  silent: null,
  due: -300,
  others: 0,
  anySilent: null,
  submitted: null
}
const why = (parts: Partial<WaitFacts>) => {
  const { cause, seconds } = waitsFor({ ...facts, ...parts })
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

  const seconds = fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: null })
  const any = fc.record({
    jobStatus: fc.constantFrom(null, ...JobStatus.literals),
    requested: fc.nat(10_000),
    silent: seconds,
    due: fc.option(fc.integer({ min: -10_000, max: 10_000 }), { nil: null }),
    others: fc.nat(1000),
    anySilent: seconds,
    submitted: seconds
  })

  it("never blames absent workers while one was heard of, and counts no time below 0", () => {
    fc.assert(
      fc.property(any, (seen) => {
        const { cause, others, seconds: time } = waitsFor(seen)
        if ([seen.silent, seen.anySilent].some((one) => one !== null && one < 60))
          assert.notStrictEqual(cause, "worker")
        if (cause === "page" || cause === "takeover") assert.strictEqual(time, seen.silent)
        assert.isAtLeast(time, 0)
        assert.strictEqual(others, seen.others)
      })
    )
  })
})
