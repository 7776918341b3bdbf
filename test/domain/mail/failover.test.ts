import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  failoverTarget,
  routeOf,
  type FailureKind,
  provesNonAcceptance,
  stickTo,
  stickyKind
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
