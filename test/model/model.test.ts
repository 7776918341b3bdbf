import { assert, describe, it } from "vitest"

import { explore } from "./explore.ts"
import type { Bounds } from "./moves.ts"
import { LITERAL, type Literal, PRODUCTION, type Rules, rulesWith } from "./rules.ts"
import { keyModel } from "./world.ts"

/** Long for a machine that others use: a walk takes some seconds. */
const TIMEOUT = { timeout: 300_000 }

const SMALL: Bounds = {
  primary: "provider_a",
  calls: 2,
  retries: 1,
  crashes: 0,
  outages: 0,
  lateAnswers: 0,
  moments: 1,
  flies: false
}

const walk = (rules: Rules, bounds: Partial<Bounds>) => explore(keyModel(rules, { ...SMALL, ...bounds }))

/** The bounds in which each first wording fails, and what it breaks. */
const FAILS: Readonly<Record<Literal, readonly [broken: string, bounds: Partial<Bounds>]>> = {
  // Ambiguous, then refused, and the key is free: in calls, after a stall, by a suppression's end, in the queue.
  "the last attempt's kind": ["S1", { moments: 2 }],
  "24 hours from the first attempt": ["S1", { moments: 2 }],
  "one tag a key": ["S5", { moments: 2 }],
  "fail-over without a stored move": ["S2", {}],
  "remembered until it is written": ["S4", { outages: 1, retries: 0, moments: 0 }],
  "learnt for a day": ["S5", { calls: 3, retries: 0, moments: 2 }],
  "held anew by evidence": ["S5", { calls: 3, retries: 0, crashes: 1, moments: 2 }],
  "the first result again": ["S5", { primary: "provider_b", crashes: 1 }]
}

describe("the states of one key, walked to the end", () => {
  it.each(["provider_a", "provider_b"] as const)(
    "break nothing with production's decisions, %s first",
    TIMEOUT,
    (primary) => {
      const { isWhole, states, violation } = walk(PRODUCTION, { primary, retries: 0, moments: 2 })
      assert.isUndefined(violation, violation?.trace.join("\n"))
      assert.isTrue(isWhole)
      assert.isAbove(states, 1000)
    }
  )

  it.each(Object.keys(LITERAL) as ReadonlyArray<Literal>)("break a promise by: %s", TIMEOUT, (literal) => {
    const [broken, bounds] = FAILS[literal]
    assert.strictEqual(walk(rulesWith([literal]), bounds).violation?.text.slice(0, 2), broken)
  })
})
