/**
 * `SenderTokens`: a token works from when it is made until it is revoked, with what it is bound to; its text is stored nowhere.
 *
 * Adapters: memory, postgres. Rules: FRONT-1.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, type Layer, Redacted } from "effect"

import type { SenderToken } from "../../../src/domain/mail/sender-token.ts"
import { SenderTokens } from "../../../src/ports/mail/sender-tokens.ts"

/** What a test sees beside the port. */
export class SenderWorld extends Context.Service<
  SenderWorld,
  {
    /** Lets time go by for what is stored. */
    readonly pass: (seconds: number) => Effect.Effect<void>
    /** What was written to the audit log: action, target, actor. */
    readonly audit: Effect.Effect<ReadonlyArray<readonly [string, string, string]>>
    /** All that is stored, as text. */
    readonly stored: Effect.Effect<string>
  }
>()("postlane/test/SenderWorld") {}

const TOKEN: Omit<SenderToken, "id"> = {
  name: "wordpress",
  categories: ["notification", "auth"],
  from: ["shop@x.test", "@y.test"],
  ratePerMinute: 60
}
const UNBOUND: Omit<SenderToken, "id"> = {
  name: "msmtp",
  categories: [],
  from: [],
  ratePerMinute: undefined
}

export const suite = (
  adapter: string,
  world: Layer.Layer<SenderTokens | SenderWorld>,
  test: typeof it.live = it.effect
) =>
  describe(`sender tokens: ${adapter}`, () => {
    test("works until it is revoked, with what it is bound to (FRONT-1)", () =>
      Effect.gen(function* () {
        const tokens = yield* SenderTokens
        const made = yield* tokens.create(TOKEN, "ann")
        const other = yield* tokens.create(UNBOUND, "bob")
        const text = Redacted.value(made.token)
        assert.match(text, /^[\w-]{43}$/)
        assert.deepStrictEqual(yield* tokens.use(text), { id: made.id, ...TOKEN })
        assert.deepStrictEqual(yield* tokens.use(Redacted.value(other.token)), { id: other.id, ...UNBOUND })
        for (const unknown of ["", "x", `${text}x`, text.toLowerCase() + "0"])
          assert.isUndefined(yield* tokens.use(unknown))
        assert.isTrue(yield* tokens.revoke(made.id, "ann"))
        assert.isUndefined(yield* tokens.use(text))
        assert.isFalse(yield* tokens.revoke(made.id, "ann"))
        assert.isFalse(yield* tokens.revoke("no-such-id", "ann"))
        assert.isDefined(yield* tokens.use(Redacted.value(other.token)))
      }).pipe(Effect.provide(world)))

    test("is listed newest first, without its text, which is stored nowhere", () =>
      Effect.gen(function* () {
        const tokens = yield* SenderTokens
        const { stored } = yield* SenderWorld
        const made = yield* tokens.create(TOKEN, "ann")
        const later = yield* tokens.create(UNBOUND, "ann")
        const listed = yield* tokens.list
        assert.deepStrictEqual(
          listed.map(({ createdAt: _createdAt, ...token }) => token),
          [
            { id: later.id, ...UNBOUND, lastUsedAt: undefined },
            { id: made.id, ...TOKEN, lastUsedAt: undefined }
          ]
        )
        assert.isAtLeast(listed[0]!.createdAt, listed[1]!.createdAt)
        assert.notInclude(yield* stored, Redacted.value(made.token))
        yield* tokens.revoke(made.id, "ann")
        assert.deepStrictEqual(
          (yield* tokens.list).map(({ id }) => id),
          [later.id]
        )
      }).pipe(Effect.provide(world)))

    test("notes its last use once a minute", () =>
      Effect.gen(function* () {
        const tokens = yield* SenderTokens
        const { pass } = yield* SenderWorld
        const { token } = yield* tokens.create(TOKEN, "ann")
        const lastUse = Effect.map(tokens.list, ([one]) => one!.lastUsedAt)
        const use = Effect.andThen(tokens.use(Redacted.value(token)), lastUse)
        yield* use
        yield* pass(50)
        const before = yield* lastUse
        assert.isDefined(before)
        assert.strictEqual(yield* use, before)
        yield* pass(20)
        const stale = yield* lastUse
        assert.isAbove((yield* use)!, stale!)
      }).pipe(Effect.provide(world)))

    test("leaves one audit row when it is made, and one when it is revoked", () =>
      Effect.gen(function* () {
        const tokens = yield* SenderTokens
        const { audit } = yield* SenderWorld
        const { id } = yield* tokens.create(TOKEN, "ann")
        yield* Effect.all([tokens.revoke(id, "bob"), tokens.revoke(id, "bob")], { concurrency: 2 })
        yield* tokens.revoke("no-such-id", "bob")
        assert.deepStrictEqual(yield* audit, [
          ["sender_token_added", "wordpress", "ann"],
          ["sender_token_revoked", "wordpress", "bob"]
        ])
      }).pipe(Effect.provide(world)))
  })
