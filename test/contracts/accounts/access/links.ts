import { assert } from "@effect/vitest"
import { Effect, type Redacted } from "effect"

import { MAGIC_LINK_LIFETIME_SECONDS } from "../../../../src/domain/accounts/session.ts"
import { Access, Admins, MagicLinks, MOST_SIGN_INS } from "../../../../src/ports/accounts/access.ts"
import { type AccessTest, BROWSER, signIn, StoreWorld, strangers, text } from "./callers.ts"

/** Links: each works once, for its time, and for those who may sign in. */
export const signInLinks = (test: AccessTest): void => {
  test("a magic link works once, for its time, and for the customer of its address", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const links = yield* MagicLinks
      const { pass } = yield* StoreWorld
      assert.isUndefined(yield* links.claim({ promo: "nothing", email: "a@x.test" }))
      const [first, second, third] = yield* Effect.all(
        ["a@x.test", "a@x.test", "b@x.test"].map((email) => links.claim({ promo: "welcome", email }))
      )
      const session = yield* links.redeem(text(first!))
      assert.isUndefined(yield* links.redeem(text(first!)))
      assert.deepInclude(session!.principal, { actor: "a@x.test", rights: ["owner"], via: "session" })
      assert.deepStrictEqual((yield* access.bySession(text(session!.cookie)))?.principal, session!.principal)
      assert.isUndefined(yield* access.byToken(text(session!.cookie)))
      const again = yield* links.redeem(text(second!))
      assert.strictEqual(again!.principal.customerId, session!.principal.customerId)
      yield* pass(MAGIC_LINK_LIFETIME_SECONDS + 5)
      assert.isUndefined(yield* links.redeem(text(third!)))
    }))

  test("twenty who use one link at once begin one session", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const link = yield* links.claim({ promo: "welcome", email: "raced@x.test" })
      const begun = yield* Effect.all(
        Array.from({ length: 20 }, () => links.redeem(text(link!))),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        begun.filter((session) => session !== undefined),
        1
      )
    }))

  test("a sign-in link works once, and only in the browser that asked, for who is known", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const { pass } = yield* StoreWorld
      const email = "link@x.test"
      const ask = (browser = BROWSER) => links.request({ email, browser })
      assert.isUndefined(yield* ask(), "nobody of this address")
      const { customerId } = yield* signIn(email)
      const link = (yield* ask())!
      assert.match(text(link.token), /^[A-Za-z0-9_-]{43}$/)
      for (const other of ["c".repeat(43), "", "\0", "☃", undefined]) {
        assert.strictEqual((yield* Effect.flip(links.redeem(text(link.token), other)))._tag, "OtherBrowser")
      }
      const session = yield* links.redeem(text(link.token), BROWSER)
      assert.deepStrictEqual(session!.principal, {
        actor: email,
        customerId,
        rights: ["owner"],
        via: "session"
      })
      assert.isUndefined(yield* links.redeem(text(link.token), BROWSER))
      assert.isUndefined(yield* links.redeem(text(link.token), "c".repeat(43)), "used: nothing is said")
      const late = (yield* ask())!
      assert.notStrictEqual(late.id, link.id)
      yield* pass(MAGIC_LINK_LIFETIME_SECONDS + 5)
      assert.isUndefined(yield* links.redeem(text(late.token), BROWSER))
      for (const stranger of strangers) {
        assert.isUndefined(yield* links.request({ email: stranger, browser: BROWSER }))
        assert.isUndefined(yield* links.redeem(stranger, BROWSER))
      }
    }))

  test("one person gets so many links within an hour, from any browser", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const { pass } = yield* StoreWorld
      const email = "often@x.test"
      yield* signIn(email)
      const asked = yield* Effect.all(
        Array.from({ length: MOST_SIGN_INS + 10 }, (_, at) =>
          links.request({ email, browser: String(at).padStart(43, "x") })
        ),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        asked.filter((link) => link !== undefined),
        MOST_SIGN_INS
      )
      yield* pass(3600 + 5)
      assert.isDefined(yield* links.request({ email, browser: BROWSER }))
    }))

  test("a browser in which a person has signed in has an allowance of its own", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const { pass } = yield* StoreWorld
      const email = "kept@x.test"
      yield* signIn(email)
      const first = (yield* links.request({ email, browser: BROWSER }))!
      assert.isDefined(yield* links.redeem(text(first.token), BROWSER))
      const ask = (browser: string) =>
        Effect.all(
          Array.from({ length: MOST_SIGN_INS + 5 }, () => links.request({ email, browser })),
          { concurrency: "unbounded" }
        )
      const given = (asked: ReadonlyArray<unknown>) => asked.filter((link) => link !== undefined).length
      assert.strictEqual(given(yield* ask("d".repeat(43))), MOST_SIGN_INS - 1, "all count for a new browser")
      assert.strictEqual(given(yield* ask(BROWSER)), MOST_SIGN_INS - 1, "only its own for a known one")
      yield* pass(3600 + 5)
      const other = "kept-not@x.test"
      yield* signIn(other)
      assert.strictEqual(
        given(
          yield* Effect.all(
            Array.from({ length: MOST_SIGN_INS + 5 }, () => links.request({ email: other, browser: BROWSER }))
          )
        ),
        MOST_SIGN_INS,
        "known for another person alone"
      )
    }))

  test("twenty who use one sign-in link at once begin one session", () =>
    Effect.gen(function* () {
      const links = yield* MagicLinks
      yield* signIn("raced-link@x.test")
      const link = (yield* links.request({ email: "raced-link@x.test", browser: BROWSER }))!
      const begun = yield* Effect.all(
        Array.from({ length: 20 }, () => links.redeem(text(link.token), BROWSER)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        begun.filter((session) => session !== undefined),
        1
      )
    }))

  test("an admin signs in by mail until they are removed, or have another right", () =>
    Effect.gen(function* () {
      const [access, admins, links] = [yield* Access, yield* Admins, yield* MagicLinks]
      const [email, actor] = ["root@x.test", "ops"]
      const enter = Effect.fnUntraced(function* () {
        const link = (yield* links.request({ email, browser: BROWSER }))!
        return (yield* links.redeem(text(link.token), BROWSER))!
      })
      const isIn = (session: { readonly cookie: Redacted.Redacted }) =>
        Effect.map(access.bySession(text(session.cookie)), (use) => use !== undefined)
      assert.strictEqual(yield* admins.invite({ email, right: "admin:read", actor }), "invited")
      assert.strictEqual(yield* admins.invite({ email, right: "admin:read", actor: "other" }), "exists")
      const reader = yield* enter()
      assert.deepStrictEqual(reader.principal, {
        actor: email,
        customerId: undefined,
        rights: ["admin:read"],
        via: "session"
      })
      assert.strictEqual(yield* admins.invite({ email, right: "admin", actor }), "changed")
      assert.isFalse(yield* isIn(reader))
      const { customerId } = yield* signIn(email)
      const both = yield* enter()
      assert.deepStrictEqual(both.principal, {
        actor: email,
        customerId,
        rights: ["owner", "admin"],
        via: "session"
      })
      const listed = (yield* admins.list).filter((one) => one.email === email)
      assert.lengthOf(listed, 1)
      assert.deepInclude(listed[0], { email, rights: ["admin"], invitedBy: actor })
      const promotion = yield* signIn(email)
      assert.deepStrictEqual(promotion.session.principal.rights, ["owner"])
      const pending = (yield* links.request({ email, browser: BROWSER }))!
      assert.isTrue(yield* admins.remove({ email, actor }))
      assert.isFalse(yield* admins.remove({ email, actor }))
      assert.isFalse(yield* admins.remove({ email: "\0", actor }))
      assert.isFalse(yield* isIn(both))
      assert.isTrue(yield* isIn(promotion.session))
      assert.isUndefined(yield* links.redeem(text(pending.token), BROWSER))
      assert.deepStrictEqual((yield* enter()).principal.rights, ["owner"])
    }))
}
