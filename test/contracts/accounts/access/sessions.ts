import { assert } from "@effect/vitest"
import { Effect } from "effect"

import {
  ROTATE_AFTER_SECONDS,
  ROTATION_GRACE_SECONDS,
  SESSION_LIFETIME_SECONDS
} from "../../../../src/domain/accounts/session.ts"
import { Access } from "../../../../src/ports/accounts/access.ts"
import { type AccessTest, signIn, StoreWorld, text } from "./callers.ts"

/** Sessions: how they rotate, and when they end. */
export const sessions = (test: AccessTest): void => {
  test("a session rotates: the next cookie takes over when it is used, the one before keeps its grace", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { pass } = yield* StoreWorld
      const { cookie } = yield* signIn("a@x.test")
      const renewedBy = Effect.fnUntraced(function* (one: string) {
        const use = yield* access.bySession(one)
        return use?.renewed === undefined ? undefined : text(use.renewed)
      })
      assert.isUndefined(yield* renewedBy(cookie))
      yield* pass(ROTATE_AFTER_SECONDS + 5)
      const lost = yield* renewedBy(cookie)
      assert.isDefined(lost)
      assert.isUndefined(yield* renewedBy(cookie), "another tab within the grace gets none of its own")
      yield* pass(ROTATION_GRACE_SECONDS + 5)
      const next = yield* renewedBy(cookie)
      assert.isDefined(next, "the answer got lost: there is another")
      assert.isUndefined(yield* access.bySession(lost))
      assert.isUndefined(yield* renewedBy(next))
      assert.isDefined(yield* access.bySession(cookie), "a request of another tab may be under way")
      yield* pass(ROTATION_GRACE_SECONDS + 5)
      assert.isUndefined(yield* access.bySession(cookie))
      assert.isDefined(yield* access.bySession(next))
    }))

  test("twenty requests at once get one next cookie, and none is refused", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { pass } = yield* StoreWorld
      const { cookie } = yield* signIn("a@x.test")
      yield* pass(ROTATE_AFTER_SECONDS + 5)
      const uses = yield* Effect.all(
        Array.from({ length: 20 }, () => access.bySession(cookie)),
        { concurrency: "unbounded" }
      )
      assert.isTrue(uses.every((use) => use !== undefined))
      const next = uses.flatMap((use) => (use?.renewed === undefined ? [] : [text(use.renewed)]))
      assert.lengthOf(next, 1)
      const both = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) => access.bySession(index % 2 === 0 ? next[0]! : cookie)),
        { concurrency: "unbounded" }
      )
      assert.isTrue(both.every((use) => use !== undefined))
    }))

  test("a session ends at its time, however it is used, and when it is ended", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { pass } = yield* StoreWorld
      const ended = yield* signIn("a@x.test")
      const other = yield* signIn("a@x.test")
      assert.isTrue(yield* access.endSession(ended.cookie))
      assert.isFalse(yield* access.endSession(ended.cookie))
      assert.isUndefined(yield* access.bySession(ended.cookie))
      let { cookie } = other
      yield* pass(ROTATE_AFTER_SECONDS + 5)
      cookie = text((yield* access.bySession(cookie))!.renewed!)
      assert.isDefined(yield* access.bySession(cookie))
      yield* pass(SESSION_LIFETIME_SECONDS - ROTATE_AFTER_SECONDS)
      assert.isUndefined(yield* access.bySession(cookie))
      assert.isFalse(yield* access.endSession(cookie))
    }))

  test("a session that a token began has its rights and ends with it", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { now, pass } = yield* StoreWorld
      const expiresAt = Math.round(yield* now) + 600_000
      const expiring = yield* access.createToken({ name: "short", rights: ["admin:read"], expiresAt })
      const short = text((yield* access.beginSession(text(expiring.token)))!.cookie)
      assert.isDefined(yield* access.bySession(short))
      yield* pass(605)
      assert.isUndefined(yield* access.bySession(short))
      const { id, token } = yield* access.createToken({ name: "ops", rights: ["admin:read"] })
      const session = yield* access.beginSession(text(token))
      assert.deepStrictEqual(session!.principal, {
        actor: "ops",
        customerId: undefined,
        rights: ["admin:read"],
        via: "session"
      })
      const cookie = text(session!.cookie)
      assert.deepStrictEqual((yield* access.bySession(cookie))?.principal, session!.principal)
      yield* access.revokeToken(id)
      assert.isUndefined(yield* access.bySession(cookie))
    }))

  test("the sessions of a customer are listed until they end, with how they began, and those of nobody else", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const mine = (yield* signIn("mine@x.test")).customerId
      const theirs = (yield* signIn("theirs@x.test")).customerId
      const { id, token } = yield* access.createToken({ name: "app", rights: ["owner"], customerId: mine })
      const session = yield* access.beginSession(text(token))
      const how = (customerId: typeof mine) =>
        Effect.map(access.sessionsOf(customerId), (open) => open.map(({ by }) => by).toSorted())
      assert.deepStrictEqual(yield* how(mine), ["mail", "token"])
      assert.deepStrictEqual(yield* how(theirs), ["mail"])
      const listed = (yield* access.sessionsOf(mine)).find(({ by }) => by === "token")
      assert.deepInclude(listed, { actor: "app", expiresAt: session!.expiresAt })
      assert.isBelow(listed!.createdAt, listed!.expiresAt)
      yield* access.revokeToken(id)
      assert.deepStrictEqual(yield* how(mine), ["mail"])
    }))
}
