import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"

import { Access, MagicLinks, type NewToken } from "../../../../src/ports/accounts/access.ts"
import { anyId } from "../../../support/any-id.ts"
import { type AccessTest, signIn, StoreWorld, strangers, text } from "./callers.ts"

/** Tokens: what each stands for, and until when. */
export const tokens = (test: AccessTest): void => {
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

  test("a customer's list holds the tokens of that customer alone, newest first, while they are in force", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const { pass, production } = yield* StoreWorld
      const [{ customerId: one }, { customerId: other }] = yield* Effect.all([
        signIn("one@tokens.test"),
        signIn("other@tokens.test")
      ])
      const namesOf = (customerId: NewToken["customerId"]) =>
        Effect.map(access.tokensOf(customerId!), (all) => all.map(({ name }) => name))
      const first = yield* access.createToken({ name: "first", rights: ["owner"], customerId: one })
      yield* pass(2)
      yield* access.createToken({ name: "second", rights: ["owner", "admin:read"], customerId: one })
      yield* access.createToken({ name: "of the other", rights: ["owner"], customerId: other })
      yield* access.createToken({ name: "of nobody", rights: ["admin"] })
      assert.deepStrictEqual(yield* namesOf(one), ["second", "first"])
      assert.deepStrictEqual(yield* namesOf(other), ["of the other"])
      assert.deepStrictEqual(yield* production.tokensOf(one), yield* access.tokensOf(one))
      const all = yield* access.listTokens
      assert.deepStrictEqual(
        yield* access.tokensOf(one),
        all.filter(({ customerId }) => customerId === one)
      )
      yield* access.revokeToken(first.id)
      assert.deepStrictEqual(yield* namesOf(one), ["second"])
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
}
