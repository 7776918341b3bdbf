/**
 * `RequestKeys`: a call over HTTP is answered once for each key of its caller, and every attempt at it has the same id.
 *
 * Adapters: memory, postgres. Rules: HTTP-16.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { type HeldKey, type KeyedRequest, RequestKeys } from "../../../src/ports/accounts/request-keys.ts"
import type { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"
import { customer, type DocumentsWorld } from "../conversion/documents-world.ts"

const window = Duration.minutes(1)
/** A lease that is over at once: its holder counts as dead. */
const dead = Duration.zero

/** A request of a customer of its own, under a key. */
const newRequest = Effect.map(customer(1), (customerId): KeyedRequest => ({
  customerId,
  keyHash: anyId(),
  requestHash: "request"
}))

/** Begins an attempt under a lease of its own. */
const attempt = (request: KeyedRequest, lasts = window) => {
  const begun = { ...request, callId: anyId(), lease: anyId(), window: lasts }
  return Effect.map(
    RequestKeys.use((keys) => keys.hold(begun)),
    (found) => ({
      found,
      held: { ...begun, ...(found.state === "held" && { callId: found.callId }) } as HeldKey
    })
  )
}

const stateOf = (request: KeyedRequest) => Effect.map(attempt(request), ({ found }) => found.state)

/** What every store of keys does. `aDayLater` lets all keys be 24 hours older. */
export const suite = <R = never>(
  name: string,
  stores: Layer.Layer<RequestKeys | ConversionStore | DocumentsWorld | R>,
  aDayLater: Effect.Effect<void, unknown, DocumentsWorld | R>
) =>
  suiteLayer(stores)(`request keys: ${name}`, (it) => {
    it.effect("one attempt at a time; the same lease may ask again", () =>
      Effect.gen(function* () {
        const keys = yield* RequestKeys
        const request = yield* newRequest
        const callId = anyId()
        const first = { ...request, callId, lease: anyId(), window }
        assert.deepStrictEqual(yield* keys.hold(first), { state: "held", callId })
        assert.deepStrictEqual(yield* keys.hold(first), { state: "held", callId })
        assert.strictEqual(yield* stateOf(request), "busy")
        assert.strictEqual(yield* stateOf({ ...request, requestHash: "another" }), "other_request")
        assert.strictEqual(yield* stateOf({ ...request, keyHash: anyId() }), "held", "another key")
        assert.strictEqual(
          yield* stateOf({ ...request, customerId: yield* customer(1) }),
          "held",
          "the same key of another account"
        )
      })
    )

    it.effect("the first answer is the answer, also of an attempt that was overtaken", () =>
      Effect.gen(function* () {
        const keys = yield* RequestKeys
        const request = yield* newRequest
        const { held } = yield* attempt(request, dead)
        const second = yield* attempt(request)
        assert.deepStrictEqual(second.found, { state: "held", callId: held.callId })
        assert.deepStrictEqual(yield* keys.answer(second.held, { a: [1, null] }), { a: [1, null] })
        assert.deepStrictEqual(yield* keys.answer(held, { a: 2 }), { a: [1, null] })
        const { found } = yield* attempt(request)
        assert.deepStrictEqual(found, { state: "answered", answer: { a: [1, null] }, contentHash: null })
        assert.strictEqual(yield* stateOf({ ...request, requestHash: "another" }), "other_request")
        for (const late of [held, second.held]) yield* keys.giveBack(late, true)
        assert.strictEqual(yield* stateOf(request), "answered")
      })
    )

    it.effect("a key is free after its only attempt changed nothing, and else goes on with its ids", () =>
      Effect.gen(function* () {
        const keys = yield* RequestKeys
        const request = yield* newRequest
        const refused = yield* attempt(request)
        yield* keys.giveBack(refused.held, true)
        assert.isUndefined(yield* keys.answer(refused.held, "too late"))
        const other = { ...request, requestHash: "another" }
        const unknown = yield* attempt(other)
        assert.deepInclude(unknown.found, { state: "held" })
        assert.notStrictEqual(unknown.held.callId, refused.held.callId)
        yield* keys.giveBack(unknown.held, false)
        const again = yield* attempt(other)
        assert.deepStrictEqual(again.found, { state: "held", callId: unknown.held.callId })
        yield* keys.giveBack(unknown.held, false)
        assert.strictEqual(yield* stateOf(other), "busy", "the lease is another's")
        yield* keys.giveBack(again.held, true)
        assert.strictEqual(yield* stateOf(request), "other_request", "an earlier attempt may have done it")
        assert.deepStrictEqual((yield* attempt(other)).found, { state: "held", callId: unknown.held.callId })
      })
    )

    it.effect("an attempt that is alive keeps the key", () =>
      Effect.gen(function* () {
        const keys = yield* RequestKeys
        const request = yield* newRequest
        const { held } = yield* attempt(request, dead)
        yield* keys.renew(held, window)
        assert.strictEqual(yield* stateOf(request), "busy")
        yield* keys.renew({ ...held, lease: anyId() }, dead)
        assert.strictEqual(yield* stateOf(request), "busy", "only its holder ends a lease")
      })
    )

    it.effect("the content of a call is what its first attempt read", () =>
      Effect.gen(function* () {
        const keys = yield* RequestKeys
        const request = yield* newRequest
        const { held } = yield* attempt(request, dead)
        assert.isTrue(yield* keys.noteContent(held, "one"))
        assert.isTrue(yield* keys.noteContent(held, "one"))
        const second = yield* attempt(request)
        assert.isFalse(yield* keys.noteContent(second.held, "two"))
        assert.isTrue(yield* keys.noteContent(second.held, "one"))
        yield* keys.answer(second.held, true)
        assert.deepInclude((yield* attempt(request)).found, { state: "answered", contentHash: "one" })
        assert.isFalse(yield* keys.noteContent({ ...held, callId: anyId() }, "one"), "no such call")
      })
    )

    it.effect("after 24 hours a key is a new one", () =>
      Effect.gen(function* () {
        const keys = yield* RequestKeys
        const request = yield* newRequest
        const { held } = yield* attempt(request)
        yield* keys.answer(held, "old")
        yield* aDayLater
        const { found } = yield* attempt({ ...request, requestHash: "another" })
        assert.deepInclude(found, { state: "held" })
        assert.isUndefined(yield* keys.answer(held, "old"))
      })
    )
  })
