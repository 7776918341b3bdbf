import fc from "fast-check"
import { describe, expect, it } from "vitest"

import {
  afterCount,
  afterProbe,
  afterSign,
  type Circuit,
  CLOSED,
  enter,
  HANGS_AFTER
} from "../../../src/domain/mail/circuit.ts"

const LASTS_MS = 15_000

type Step =
  | { readonly _tag: "Come" }
  | { readonly _tag: "End"; readonly which: number; readonly answers: boolean }
  | { readonly _tag: "Wait"; readonly ms: number }

/** Most attempts time out, so that the limit is often reached. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ _tag: "Come" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("End" as const),
      which: fc.nat(3),
      answers: fc.nat(5).map((n) => n === 0)
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("Wait" as const),
      ms: fc.integer({ min: 0, max: 2 * LASTS_MS })
    })
  }
)

describe("what a circuit hears", () => {
  const hanging = { hung: HANGS_AFTER, probeUntil: 100 }

  it("a probe that ends late ends no later one", () => {
    expect(afterProbe(hanging, 100)).toEqual({ ...hanging, probeUntil: CLOSED.probeUntil })
    expect(afterProbe(hanging, 90)).toEqual(hanging)
  })

  it("the time-outs of all processes count for one that has got no answer lately, and for no other", () => {
    expect(afterCount(CLOSED, 9)).toEqual(CLOSED)
    expect(afterCount({ ...CLOSED, hung: 1 }, 9).hung).toBe(9)
    expect(afterCount({ ...CLOSED, hung: 5 }, 2).hung).toBe(5)
  })
})

describe("a provider that may hang", () => {
  it("is asked as usual below the limit, by one probe at a time above it, and as usual again after any answer", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
        let circuit: Circuit = CLOSED
        let now = 0
        let inARow = 0
        const entries: Array<readonly [was: string, should: string]> = []
        const underWay: Array<{ readonly until: number; readonly probes: boolean }> = []
        for (const one of steps) {
          if (one._tag === "Wait") now += one.ms
          else if (one._tag === "Come") {
            const before = circuit
            const { entry, circuit: after } = enter(circuit, now, LASTS_MS)
            circuit = after
            const probing = underWay.some(
              ({ probes, until }) => probes && now < until && until === before.probeUntil
            )
            entries.push([entry, inARow < HANGS_AFTER ? "ask" : probing ? "hangs" : "probe"])
            if (entry !== "hangs") underWay.push({ until: now + LASTS_MS, probes: entry === "probe" })
          } else {
            const [ended] = underWay.splice(one.which, 1)
            if (ended === undefined) continue
            circuit = afterSign(circuit, one.answers ? "answered" : "hung")
            if (ended.probes) circuit = afterProbe(circuit, ended.until)
            inARow = one.answers ? 0 : inARow + 1
          }
          expect(circuit.hung).toBe(inARow)
          // It never stays shut: a caller who comes after the longest attempt is let in.
          expect(enter(circuit, now + LASTS_MS, LASTS_MS).entry).not.toBe("hangs")
        }
        expect(entries.filter(([was, should]) => was !== should)).toEqual([])
      })
    )
  })
})
