/**
 * `Access`, `Admins` and `MagicLinks`: a token, a link or a session stands for exactly one caller, for its time and until it is
 * ended; a link works once, and of many callers at once one wins.
 *
 * Adapters: memory, postgres. Rules: DOC-52, DOC-54.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, type Layer, Redacted } from "effect"

import {
  MAGIC_LINK_LIFETIME_SECONDS,
  ROTATE_AFTER_SECONDS,
  ROTATION_GRACE_SECONDS,
  SESSION_LIFETIME_SECONDS
} from "../../../src/domain/accounts/session.ts"
import {
  Access,
  Admins,
  type NewToken,
  MagicLinks,
  MOST_SIGN_INS
} from "../../../src/ports/accounts/access.ts"
import { anyId } from "../../support/any-id.ts"

/** What a test does with the store beside the ports. */
export class StoreWorld extends Context.Service<
  StoreWorld,
  {
    /** Access to the same store for a process that does not run embedded. */
    readonly production: Access["Service"]
    /** Milliseconds of the epoch. */
    readonly now: Effect.Effect<number>
    /** Lets so much time go by. */
    readonly pass: (seconds: number) => Effect.Effect<void>
  }
>()("postlane/test/StoreWorld") {}

const text = Redacted.value

/** A signed-in customer: its id and the cookie. */
export const signIn = Effect.fnUntraced(function* (email: string) {
  const links = yield* MagicLinks
  const link = yield* links.claim({ promo: "welcome", email })
  const session = yield* links.redeem(text(link!))
  return { customerId: session!.principal.customerId!, cookie: text(session!.cookie), session: session! }
})

const strangers = ["", "x", "\0", "\ud800", "a".repeat(43), "a".repeat(100_000), "' or true --", "☃"]

const BROWSER = "b".repeat(43)

/** What every adapter of `Access`, `Admins` and `MagicLinks` does; `welcome` is a promotion that runs, `nothing` is none. */
export const suite = (
  name: string,
  layer: Layer.Layer<Access | Admins | MagicLinks | StoreWorld>,
  /** `it.live` where the time of the store is its own. */
  run: typeof it.effect = it.effect
) => {
  const test = (
    title: string,
    body: () => Effect.Effect<void, unknown, Access | Admins | MagicLinks | StoreWorld>
  ) => run(title, () => Effect.provide(body(), layer), 60_000)

  describe(`access: ${name}`, () => {
    test("a token stands for what it was made for, until it is revoked", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const { customerId } = yield* signIn("a@x.test")
        const made: ReadonlyArray<NewToken> = [
          { name: "ops", rights: ["admin"] },
          { name: "dashboards", rights: ["admin:read"] },
          { name: "ci of a", rights: ["owner", "admin:read"], customerId }
        ]
        for (const wanted of made) {
          const { id, token } = yield* access.createToken(wanted)
          assert.match(text(token), /^[A-Za-z0-9_-]{43}$/)
          assert.deepStrictEqual(yield* access.byToken(text(token)), {
            actor: wanted.name,
            customerId: wanted.customerId,
            rights: wanted.rights,
            via: "token"
          })
          assert.isUndefined(yield* access.bySession(text(token)))
          assert.isTrue(yield* access.revokeToken(id))
          assert.isFalse(yield* access.revokeToken(id))
          assert.isUndefined(yield* access.byToken(text(token)))
        }
        assert.isFalse(yield* access.revokeToken("no uuid"))
      }))

    test("a token ends at its time", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const { now, pass } = yield* StoreWorld
        const expiresAt = Math.round(yield* now) + 60_000
        const { token } = yield* access.createToken({ name: "short", rights: ["admin"], expiresAt })
        assert.isDefined(yield* access.byToken(text(token)))
        yield* pass(61)
        assert.isUndefined(yield* access.byToken(text(token)))
      }))

    test("the list holds what is in force, newest first, and no token's text", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const { now, pass, production } = yield* StoreWorld
        const { customerId } = yield* signIn("listed@x.test")
        const before = new Set((yield* access.listTokens).map(({ id }) => id))
        const added = Effect.map(access.listTokens, (all) => all.filter(({ id }) => !before.has(id)))
        const expiresAt = Math.round(yield* now) + 600_000
        const first = yield* access.createToken({
          name: "first",
          rights: ["owner", "admin:read"],
          customerId,
          expiresAt
        })
        yield* pass(2)
        const second = yield* access.createToken({ name: "second", rights: ["admin"] })
        yield* access.keepDevToken({
          name: "dev listed",
          token: Redacted.make("d".repeat(43)),
          rights: ["admin"]
        })
        const [newest, oldest] = (yield* added).filter((one) => one.name !== "dev listed")
        assert.isTrue((yield* added).some((one) => one.name === "dev listed"))
        assert.isFalse((yield* production.listTokens).some((one) => one.name === "dev listed"))
        assert.deepInclude(newest, {
          id: second.id,
          name: "second",
          rights: ["admin"],
          customerId: undefined,
          lastUsedAt: undefined,
          expiresAt: undefined
        })
        assert.deepInclude(oldest, {
          id: first.id,
          name: "first",
          rights: ["owner", "admin:read"],
          customerId,
          lastUsedAt: undefined
        })
        // By the store's own clock, which may be made to move what it wrote instead.
        assert.isAtMost(Math.abs(oldest!.expiresAt! - oldest!.createdAt - 600_000), 60_000)
        assert.isAtMost(Math.abs(newest!.createdAt - (yield* now)), 60_000)
        assert.notInclude(JSON.stringify(yield* access.listTokens), text(second.token))

        yield* access.byToken(text(second.token))
        const used = (yield* added).find(({ id }) => id === second.id)!
        assert.isAtLeast(used.lastUsedAt!, used.createdAt)
        assert.isTrue(yield* access.revokeToken(second.id))
        assert.isFalse((yield* added).some(({ id }) => id === second.id))
        yield* pass(601)
        assert.isFalse((yield* added).some(({ id }) => id === first.id))
        yield* access.keepDevToken({ name: "dev listed", token: Redacted.make(""), rights: ["admin"] })
      }))

    test("a token without a right, a name, or its customer is not made", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const wrong: ReadonlyArray<NewToken> = [
          { name: "x", rights: [] },
          { name: " ", rights: ["admin"] },
          { name: "x\0", rights: ["admin"] },
          { name: "x".repeat(201), rights: ["admin"] },
          { name: "x", rights: ["owner"] },
          { name: "x", rights: ["owner"], customerId: anyId("nobody") },
          { name: "x", rights: ["owner"], customerId: anyId("0199a000-0000-7000-8000-000000000001") },
          { name: "x", rights: ["admin"], expiresAt: Number.NaN }
        ]
        for (const token of wrong) {
          assert.strictEqual((yield* Effect.flip(access.createToken(token)))._tag, "InvalidToken")
        }
      }))

    test("what nobody gave out stands for nobody, whatever it holds", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const links = yield* MagicLinks
        for (const stranger of strangers) {
          assert.isUndefined(yield* access.byToken(stranger))
          assert.isUndefined(yield* access.bySession(stranger))
          assert.isUndefined(yield* access.beginSession(stranger))
          assert.isUndefined(yield* links.redeem(stranger))
          assert.isFalse(yield* access.endSession(stranger))
        }
      }))

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
        assert.deepStrictEqual(
          (yield* access.bySession(text(session!.cookie)))?.principal,
          session!.principal
        )
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

    test("a dev token replaces the one of its name, and is invalid outside an embedded process", () =>
      Effect.gen(function* () {
        const access = yield* Access
        const keep = (token: string) =>
          access.keepDevToken({
            name: "dev owner",
            token: Redacted.make(token),
            rights: ["owner"],
            owner: { email: "owner@x.test", name: "Dev Owner", credits: 100_000 }
          })
        yield* keep("first")
        yield* keep("first")
        const principal = yield* access.byToken("first")
        assert.deepInclude(principal, { actor: "dev owner", rights: ["owner"], via: "token" })
        assert.isDefined(principal?.customerId)
        const session = yield* access.beginSession("first")
        const { production } = yield* StoreWorld
        assert.isUndefined(yield* production.byToken("first"))
        assert.isUndefined(yield* production.bySession(text(session!.cookie)))
        yield* keep("second")
        assert.isUndefined(yield* access.byToken("first"))
        assert.deepStrictEqual(yield* access.byToken("second"), principal)
        yield* keep("")
        assert.isUndefined(yield* access.byToken("second"))
      }))
  })
}
