import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  afterFailure,
  failoverTarget,
  failureCode,
  failureText,
  mayGoOn,
  routeOf,
  FailureKind,
  provesNonAcceptance,
  stickTo,
  stickyKind,
  withinWindow
} from "../../../src/domain/mail/failover.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"

const providers: ReadonlyArray<Provider> = ["provider_a", "provider_b"]
const kinds: ReadonlyArray<FailureKind> = ["rejected", "unavailable", "ambiguous"]
const provider = fc.constantFrom(...providers)
const input = fc.record({
  primary: provider,
  fallback: fc.option(provider, { nil: undefined }),
  pinned: fc.option(provider, { nil: undefined }),
  sticky: fc.option(provider, { nil: undefined })
})

describe("route and fail-over", () => {
  it("S3: fails over on proof only, once, never to the same provider", () => {
    fc.assert(
      fc.property(input, fc.constantFrom(...kinds), (given, kind) => {
        const route = stickTo(given.sticky, routeOf(given, given.pinned))
        assert.notStrictEqual(route.fallback, route.first)
        const target = failoverTarget(route, kind)
        if (target === undefined) return
        assert.strictEqual(kind, "unavailable")
        assert.isTrue(provesNonAcceptance(kind))
        // The fallback's own failure has nowhere to go.
        for (const next of kinds) {
          assert.isUndefined(failoverTarget({ first: target, fallback: undefined }, next))
        }
      })
    )
  })

  it("S3: a pinned send never fails over; S2: a sticky one sees its provider only, whatever is pinned", () => {
    fc.assert(
      fc.property(input, (given) => {
        const route = stickTo(given.sticky, routeOf(given, given.pinned))
        if (given.sticky !== undefined)
          assert.deepStrictEqual(route, { first: given.sticky, fallback: undefined })
        else if (given.pinned !== undefined) {
          assert.deepStrictEqual(route, { first: given.pinned, fallback: undefined })
        } else assert.strictEqual(route.first, given.primary)
      })
    )
  })

  it("S3: a fallback that is the primary is none", () => {
    for (const primary of providers)
      assert.isUndefined(routeOf({ primary, fallback: primary }, undefined).fallback)
  })

  it("S1: a provider may be asked on a key for 24 hours from its first attempt", () => {
    const day = 86_400_000
    assert.isTrue(withinWindow(0))
    assert.isTrue(withinWindow(day - 1))
    assert.isFalse(withinWindow(day))
  })

  it("knows three kinds of failure, of which one alone proves nothing", () => {
    assert.deepStrictEqual(FailureKind.literals.toSorted(), kinds.toSorted())
    assert.deepStrictEqual(kinds.filter(provesNonAcceptance), ["rejected", "unavailable"])
  })

  it("fails over where the rules allow it at all", () => {
    const route = routeOf({ primary: "provider_b", fallback: "provider_a" }, undefined)
    assert.strictEqual(failoverTarget(route, "unavailable"), "provider_a")
    assert.isUndefined(failoverTarget(route, "ambiguous"))
    assert.isUndefined(failoverTarget(route, "rejected"))
  })

  it("S2: no failure on an ambiguous key is certain", () => {
    for (const kind of kinds) {
      assert.strictEqual(stickyKind(true, kind), "ambiguous")
      assert.strictEqual(stickyKind(false, kind), kind)
    }
  })
})

describe("what follows a failure", () => {
  const route = routeOf({ primary: "provider_b", fallback: "provider_a" }, undefined)

  it("S2: a key in doubt goes to no other provider, and its refusal is no proof for the caller", () => {
    assert.deepStrictEqual(afterFailure(route, true, "unavailable"), { _tag: "Defer" })
    assert.deepStrictEqual(afterFailure(route, true, "ambiguous"), { _tag: "Defer" })
    assert.deepStrictEqual(afterFailure(route, true, "rejected"), { _tag: "End", kind: "ambiguous" })
  })

  it("S3: proof fails over, doubt waits, a refusal ends", () => {
    assert.deepStrictEqual(afterFailure(route, false, "unavailable"), { _tag: "FailOver", to: "provider_a" })
    assert.deepStrictEqual(afterFailure(route, false, "ambiguous"), { _tag: "Defer" })
    assert.deepStrictEqual(afterFailure(route, false, "rejected"), { _tag: "End", kind: "rejected" })
    const alone = { ...route, fallback: undefined }
    assert.deepStrictEqual(afterFailure(alone, false, "unavailable"), { _tag: "End", kind: "unavailable" })
  })

  it("a send with a claim asks the next provider only where its store says so", () => {
    for (const moved of ["stored", "passed", "unknown"] as const) {
      assert.strictEqual(mayGoOn(true, moved), moved === "stored")
      assert.isTrue(mayGoOn(false, moved))
    }
  })
})

describe("a provider's words", () => {
  const LONGEST = 300

  it("are one line without secrets and local parts, and never an empty secret's", () => {
    const text = " key re_1\tof\u0000 ann@x.test \r\n is re_1 "
    assert.strictEqual(failureText(text, ["re_1", ""]), "key … of …@x.test is …")
  })

  it("are 300 characters at most, and say where they were cut", () => {
    const whole = "x".repeat(LONGEST)
    assert.strictEqual(failureText(whole), whole)
    assert.strictEqual(failureText(`${whole}y`), `${"x".repeat(LONGEST - 1)}…`)
    // What lies beyond ten times that is not looked at.
    assert.strictEqual(failureText(`${" ".repeat(10 * LONGEST)}late`), "")
    assert.strictEqual(failureText(`${" ".repeat(10 * LONGEST - 1)}late`), "l")
  })

  it("have a name if it is printable, cut to 64 characters", () => {
    assert.strictEqual(failureCode("rate_limit_exceeded"), "rate_limit_exceeded")
    assert.strictEqual(failureCode("c".repeat(65)), "c".repeat(64))
    for (const none of ["", "two words", "ümlaut", "a\nb", 429, null, undefined, {}])
      assert.isUndefined(failureCode(none))
  })
})
