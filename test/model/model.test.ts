import { assert, describe, it } from "vitest"

import { explore } from "./explore.ts"
import type { Bounds } from "./moves.ts"
import { LITERAL, type Literal, PRODUCTION, type Rules, rulesWith } from "./rules.ts"
import type { State } from "./state.ts"
import { keyModel } from "./world.ts"

const SMALL: Bounds = {
  primary: "provider_a",
  calls: 2,
  retries: 1,
  crashes: 0,
  outages: 0,
  losses: 0,
  moments: 1,
  flies: false,
  suppresses: false
}

const walk = (rules: Rules, bounds: Partial<Bounds>) => explore(keyModel(rules, { ...SMALL, ...bounds }))

/** The bounds in which each first wording fails, and what it breaks. */
const FAILS: Readonly<Record<Literal, readonly [broken: string, bounds: Partial<Bounds>]>> = {
  "a refused retry frees its key": ["D1", {}],
  "a refused call frees its key": ["S2", {}],
  "a suppression frees its key": ["D1", { suppresses: true }],
  "24 hours from the first attempt": ["S1", { moments: 2 }],
  "one tag a key": ["S5", { moments: 2 }],
  "fail-over without a stored move": ["S2", {}],
  "remembered until it is written": ["S4", { outages: 1, retries: 0, moments: 0 }],
  "learnt for a day": ["S5", { calls: 3, retries: 0, moments: 2 }],
  "held anew by evidence": ["S5", { calls: 3, retries: 0, crashes: 1, moments: 2 }],
  "each provider goes on with its own": ["S2", { primary: "provider_b", outages: 1, moments: 0 }],
  "a deferral is written before its retries end": ["D1", { losses: 1, moments: 0 }],
  "a deferral is written late": ["D1", { outages: 1, moments: 0 }],
  "an end is forgotten by the call after it": ["D1", { calls: 3, moments: 0 }],
  "one chain of retries, also without a claim": ["D1", { losses: 1, moments: 0 }],
  "the first result again": ["S5", { primary: "provider_b", crashes: 1 }]
}

/** What the surroundings do, in order; all else happens as the rules let it. */
interface Trace {
  readonly literal: Literal
  readonly broken: string
  readonly bounds: Partial<Bounds>
  readonly says: ReadonlyArray<RegExp>
}

/** The traces of a key that an exhaustive walk through the first wordings found: each ends in two copies, or in an answer that is not true. */
const TRACES: Readonly<Record<string, Trace>> = {
  "1a: refused, lost, and its retry refused": {
    literal: "a refused retry frees its key",
    broken: "S2",
    bounds: { primary: "provider_b" },
    says: [
      /provider_b: unavailable/,
      /provider_a: accepted, the answer is lost/,
      /^retry 1 .*provider_a: unavailable/
    ]
  },
  "1b: a stalled call, and the one that takes over is refused": {
    literal: "a refused call frees its key",
    broken: "S2",
    bounds: { primary: "provider_b", calls: 3 },
    says: [/^call 0 .*provider_b: unavailable/, /the lease is over/, /^call 1 .*provider_a: unavailable/]
  },
  "1c: lost, and the address suppressed before its retry": {
    literal: "a suppression frees its key",
    broken: "S2",
    bounds: { suppresses: true },
    says: [/provider_a: accepted, the answer is lost/, /suppressed/, /provider_a: unavailable/]
  },
  "1d: a retry whose process died, retaken and refused": {
    literal: "a refused retry frees its key",
    broken: "S2",
    bounds: { crashes: 1 },
    says: [
      /provider_a: accepted, the answer is lost/,
      /is killed/,
      /the lease is over/,
      /^retry 1 .*provider_a: unavailable/,
      /^call 1 .*provider_a: unavailable/
    ]
  },
  "2a: yesterday's event settles today's mail": {
    literal: "one tag a key",
    broken: "S5",
    bounds: { moments: 2 },
    says: [/provider_a: accepted$/, /30 min/, /24 h 10 min/, /event/, /the request is lost/]
  },
  "2b: the provider's own day began later": {
    literal: "24 hours from the first attempt",
    broken: "S1",
    bounds: { moments: 2 },
    says: [
      /the request is lost/,
      /30 min/,
      /^retry 1 .*provider_a: accepted/,
      /24 h 10 min/,
      /provider_a: accepted$/
    ]
  },
  "4: a fail-over whose move is not stored": {
    literal: "fail-over without a stored move",
    broken: "S",
    bounds: {},
    says: [
      /the lease is over/,
      /^call 0 .*provider_a: unavailable/,
      /^call 0 .*provider_b: accepted/,
      /^call 1 .*provider_a: accepted/
    ]
  },
  "5: forgotten once it was written": {
    literal: "remembered until it is written",
    broken: "S",
    bounds: { primary: "provider_b", outages: 1, retries: 0, moments: 0 },
    says: [
      /provider_b: accepted$/,
      /the store goes away/,
      /^call 1 .*provider_b: unavailable/,
      /provider_a: accepted/
    ]
  },
  "10: a claim whose process died before its request left": {
    literal: "the first result again",
    broken: "S5",
    bounds: { primary: "provider_b", crashes: 1 },
    says: [/is killed/, /the lease is over/]
  }
}

/** Whether the surroundings do it. */
const IS_THEIRS =
  /hears from|suppressed|is killed|lease is over|store (goes|is back)|event|late request|h \d+ min later/

/** The model where the surroundings do what they are said to, in that order, and nothing after it. */
const told = (rules: Rules, { bounds, says }: Trace) => {
  const model = keyModel(rules, { ...SMALL, ...bounds })
  type Told = { readonly state: State; readonly at: number }
  const at = (state: State, n: number): Told => ({ state, at: n })
  return explore<Told>({
    initial: at(model.initial, 0),
    steps: (now) =>
      model.steps(now.state).flatMap((step) => {
        if (!IS_THEIRS.test(step.label)) return [{ ...step, state: at(step.state, now.at) }]
        return says[now.at]?.test(step.label) === true ? [{ ...step, state: at(step.state, now.at + 1) }] : []
      }),
    violated: ({ state }) => model.violated(state),
    textOf: (one) => `${one.at}${model.textOf(one.state)}`
  })
}

describe("a trace of the first wordings", () => {
  it.each(Object.keys(TRACES))("%s: breaks its promise by them, and none by production's rules", (name) => {
    const trace = TRACES[name]!
    assert.strictEqual(
      told(rulesWith([trace.literal]), trace).violation?.text.slice(0, trace.broken.length),
      trace.broken
    )
    const { isWhole, violation } = told(PRODUCTION, trace)
    assert.isUndefined(violation, violation?.trace.join("\n"))
    assert.isTrue(isWhole)
  })
})

/** How many copies leave provider_b at most, of one mail whose answers and events may all be lost. */
const copiesOf = (retries: number): number => {
  let most = 0
  const model = keyModel(PRODUCTION, { ...SMALL, primary: "provider_b", calls: 1, retries })
  const { isWhole } = explore({
    ...model,
    violated: (state) => {
      most = Math.max(
        most,
        state.requests.filter(({ copy, provider }) => copy && provider === "provider_b").length
      )
      return model.violated(state)
    }
  })
  assert.isTrue(isWhole)
  return most
}

describe("trace 11", () => {
  it("a provider that does not dedupe delivers one copy and one more a retry at most: four by the schedule", () => {
    assert.deepStrictEqual([0, 1, 3].map(copiesOf), [1, 2, 4])
  })
})

describe("the states of one key, walked to the end", () => {
  it.each(["provider_a", "provider_b"] as const)(
    "break nothing with production's decisions, %s first",
    (primary) => {
      const { isWhole, states, violation } = walk(PRODUCTION, { primary, retries: 0, moments: 2 })
      assert.isUndefined(violation, violation?.trace.join("\n"))
      assert.isTrue(isWhole)
      assert.isAbove(states, 1000)
    }
  )

  it.each(Object.keys(LITERAL) as ReadonlyArray<Literal>)("break a promise by: %s", (literal) => {
    const [broken, bounds] = FAILS[literal]
    assert.strictEqual(walk(rulesWith([literal]), bounds).violation?.text.slice(0, 2), broken)
  })
})
