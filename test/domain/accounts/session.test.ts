import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import {
  presentCookie,
  ROTATE_AFTER_SECONDS,
  ROTATION_GRACE_SECONDS,
  SESSION_LIFETIME_SECONDS,
  type SessionCookies
} from "../../../src/domain/accounts/session.ts"

const GRACE = ROTATION_GRACE_SECONDS * 1000
const ROTATE = ROTATE_AFTER_SECONDS * 1000
const LIFETIME = SESSION_LIFETIME_SECONDS * 1000

const begun: SessionCookies = {
  current: "c0",
  rotatedAt: 0,
  next: undefined,
  previous: undefined,
  expiresAt: LIFETIME
}

/** A browser presents its newest cookie or an older one, after a while; an answer with a new cookie may get lost. */
const step = fc.record({
  after: fc.oneof(fc.integer({ min: 0, max: GRACE + 1 }), fc.integer({ min: 0, max: 2 * ROTATE })),
  older: fc.nat(3),
  lost: fc.boolean()
})

/** What a browser and a session go through; `check` sees each cookie that is presented. */
const live = (
  steps: ReadonlyArray<{ readonly after: number; readonly older: number; readonly lost: boolean }>,
  check: (one: {
    readonly now: number
    readonly session: SessionCookies
    readonly newest: boolean
    readonly hash: string
    readonly tag: "Refused" | "Holds" | "Renewed"
  }) => void
) => {
  let session = begun
  let now = 0
  const jar = ["c0"]
  for (const [index, { after, lost, older }] of steps.entries()) {
    now += after
    const hash = jar[Math.max(0, jar.length - 1 - older)]!
    const presented = presentCookie(session, hash, `c${index + 1}`, now)
    check({ now, session, newest: hash === jar.at(-1), hash, tag: presented._tag })
    if (presented._tag === "Refused") continue
    session = presented.session
    if (presented._tag === "Renewed" && !lost) jar.push(`c${index + 1}`)
  }
}

describe("the cookies of a session", () => {
  it("a client that presents its newest one is never logged out before the session's end", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) =>
        live(
          steps.map((one) => ({ ...one, older: 0 })),
          ({ now, tag }) => assert.strictEqual(tag === "Refused", now >= LIFETIME)
        )
      )
    )
  })

  it("nothing holds at the session's end, nor what it never gave out", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(), (steps, beyond) =>
        live(steps, ({ session, hash }) => {
          assert.strictEqual(presentCookie(session, hash, "x", LIFETIME + beyond)._tag, "Refused")
          assert.strictEqual(presentCookie(session, "never", "x", 0)._tag, "Refused")
          assert.strictEqual(session.expiresAt, LIFETIME)
        })
      )
    )
  })

  it("nothing holds at the very moment of the session's end", () => {
    assert.strictEqual(presentCookie(begun, "c0", "c1", LIFETIME - 1)._tag, "Renewed")
    assert.strictEqual(presentCookie(begun, "c0", "c1", LIFETIME)._tag, "Refused")
  })

  it("a cookie holds for its grace once the next one was used, and not a moment longer", () => {
    fc.assert(
      fc.property(fc.integer({ min: ROTATE, max: LIFETIME - 3 * GRACE }), fc.nat(GRACE), (at, later) => {
        const renewed = presentCookie(begun, "c0", "c1", at)
        assert.strictEqual(renewed._tag, "Renewed")
        if (renewed._tag !== "Renewed") return
        assert.strictEqual(presentCookie(renewed.session, "c0", "c2", at + (later % GRACE))._tag, "Holds")
        const used = presentCookie(renewed.session, "c1", "c2", at + later)
        assert.strictEqual(used._tag, "Holds")
        if (used._tag === "Refused") return
        assert.strictEqual(presentCookie(used.session, "c0", "c2", at + later + GRACE - 1)._tag, "Holds")
        assert.strictEqual(presentCookie(used.session, "c0", "c2", at + later + GRACE)._tag, "Refused")
      })
    )
  })

  it("are renewed after an hour and not before, one at a time", () => {
    assert.strictEqual(presentCookie(begun, "c0", "c1", ROTATE - 1)._tag, "Holds")
    const first = presentCookie(begun, "c0", "c1", ROTATE)
    assert.strictEqual(first._tag, "Renewed")
    if (first._tag !== "Renewed") return
    assert.strictEqual(presentCookie(first.session, "c0", "c2", ROTATE + GRACE - 1)._tag, "Holds")
    assert.strictEqual(presentCookie(first.session, "c0", "c2", ROTATE + GRACE)._tag, "Renewed")
  })
})
