/**
 * `EventHooks`: each event reaches every hook that asks for it or is dead and can be sent again, one after the other for one subject; a
 * hook that is silent for days switches itself off.
 *
 * Adapters: memory, postgres. Rules: EVENT-81, EVENT-82, EVENT-83, EVENT-85.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, type Layer, Redacted } from "effect"

import { RETRY_DELAYS_SECONDS } from "../../../src/domain/delivery/event-hooks.ts"
import { type ClaimedDelivery, EventHooks, type HookAnswer } from "../../../src/ports/delivery/event-hooks.ts"

const LEASE_MS = 30_000
const LEASE = "00000000-0000-7000-8000-000000000001"
const OTHER = "00000000-0000-7000-8000-000000000002"

const RECEIPT: HookAnswer = { status: 204, answer: "", error: undefined }
const REFUSAL: HookAnswer = { status: 500, answer: "not now", error: undefined }

const NEW = { url: "https://shop.test/hooks", types: ["*"], enabled: true } as const

/** Writes an event, as what it is about does in its own transaction. */
type Tell<R> = (type: string, subject: string) => Effect.Effect<void, never, R>

const claim = (
  options: {
    readonly lease?: string
    readonly limit?: number
    readonly each?: number
    readonly spare?: number
    readonly busy?: ReadonlyMap<string, number>
  } = {}
) =>
  EventHooks.use((hooks) =>
    hooks.claim({ lease: LEASE, leaseMs: LEASE_MS, limit: 100, each: 100, busy: new Map(), ...options })
  )

const end = ({ id }: ClaimedDelivery, answer: HookAnswer, lease = LEASE) =>
  EventHooks.use((hooks) => hooks.end(id, lease, answer))

const typesOf = (claimed: ReadonlyArray<ClaimedDelivery>) =>
  claimed.map(({ body }) => (JSON.parse(body) as { readonly type: string }).type)

const rowsOf = (hookId: string, state?: "pending" | "delivered" | "dead") =>
  EventHooks.use((hooks) => hooks.deliveries({ hookId, state, limit: 200, cursor: undefined })).pipe(
    Effect.map(({ rows }) => rows)
  )

interface Suite<R> {
  readonly tell: Tell<R>
  /** Lets time pass for hooks and deliveries. */
  readonly advance: (time: Duration.Input) => Effect.Effect<unknown, never, R>
}

/** What every store of event hooks does; each test gets one of its own. */
export const suite = <R>(name: string, layer: Layer.Layer<EventHooks | R>, { advance, tell }: Suite<R>) =>
  describe(`event hooks: ${name}`, () => {
    /** One hook for mails, and one for documents, each with ten events that are due. */
    const twoHooks = Effect.gen(function* () {
      const hooks = yield* EventHooks
      const mails = yield* hooks.add({ ...NEW, types: ["email.*"] })
      const documents = yield* hooks.add({ ...NEW, types: ["conversion.*"] })
      for (let count = 0; count < 10; count++) {
        yield* tell("email.sent", `key:${count}`)
        yield* tell("conversion.failed", `document:${count}`)
      }
      return { mails, documents }
    })

    it.effect("an event goes to the hooks that ask for it, with one webhook-id, until it is received", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const all = yield* hooks.add(NEW)
        const mail = yield* hooks.add({ ...NEW, types: ["email.*"] })
        yield* hooks.add({ ...NEW, types: ["email.bounced", "conversion.*"] })
        const off = yield* hooks.add({ ...NEW, enabled: false })
        yield* tell("email.sent", "key:1")
        const first = yield* claim()
        assert.sameDeepMembers(
          first.map(({ hookId, secrets, tries }) => [
            hookId,
            tries,
            secrets.map((one) => Redacted.value(one))
          ]),
          [all, mail].map(({ id, secret }) => [id, 1, [secret]])
        )
        assert.match(all.secret, /^whsec_[A-Za-z0-9+/]+=*$/)
        assert.deepStrictEqual(yield* claim(), [])
        yield* end(first[0]!, RECEIPT)
        yield* end(first[1]!, REFUSAL)
        assert.deepStrictEqual(yield* claim(), [])
        yield* advance(`${RETRY_DELAYS_SECONDS[0]!} seconds`)
        const second = yield* claim()
        assert.deepStrictEqual(
          second.map(({ messageId, tries }) => [messageId, tries]),
          [[first[1]!.messageId, 2]]
        )
        yield* end(second[0]!, RECEIPT)
        yield* advance("30 hours")
        assert.deepStrictEqual(yield* claim(), [])
        assert.deepStrictEqual(yield* rowsOf(off.id), [])
        const [row] = yield* rowsOf(all.id)
        assert.deepInclude(row, { state: "delivered", type: "email.sent", answerStatus: 204, nextAt: null })
      }).pipe(Effect.provide(layer))
    )

    it.effect("events of one subject wait for the one before them, those of another do not (EVENT-81)", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const { id } = yield* hooks.add(NEW)
        for (const type of ["email.sent", "email.delivered", "email.opened"]) yield* tell(type, "key:1")
        yield* tell("email.sent", "key:2")
        const first = yield* claim({ each: 2 })
        assert.deepStrictEqual(typesOf(first), ["email.sent", "email.sent"])
        yield* end(first[1]!, RECEIPT)
        yield* end(first[0]!, REFUSAL)
        yield* tell("email.clicked", "key:1")
        assert.deepStrictEqual(yield* claim(), [])
        yield* advance("5 seconds")
        const again = yield* claim()
        assert.deepStrictEqual(typesOf(again), ["email.sent"])
        yield* end(again[0]!, RECEIPT)
        for (const type of ["email.delivered", "email.opened", "email.clicked"]) {
          const next = yield* claim()
          assert.deepStrictEqual(typesOf(next), [type])
          yield* end(next[0]!, RECEIPT)
        }
        assert.lengthOf(yield* rowsOf(id, "delivered"), 5)
      }).pipe(Effect.provide(layer))
    )

    it.effect(
      "after the last delay an event is dead, the next one of its subject goes out, and it can be sent again",
      () =>
        Effect.gen(function* () {
          const hooks = yield* EventHooks
          const { id } = yield* hooks.add(NEW)
          yield* tell("email.sent", "key:1")
          yield* tell("email.delivered", "key:1")
          for (const seconds of [...RETRY_DELAYS_SECONDS, 0]) {
            const claimed = yield* claim()
            assert.deepStrictEqual(typesOf(claimed), ["email.sent"])
            yield* end(claimed[0]!, REFUSAL)
            if (seconds > 0) {
              yield* advance(`${seconds - 1} seconds`)
              assert.deepStrictEqual(yield* claim(), [])
              yield* advance("1 second")
            }
          }
          const [dead] = yield* rowsOf(id, "dead")
          assert.deepInclude(dead, { type: "email.sent", tries: 10, answerStatus: 500, answer: "not now" })
          const next = yield* claim()
          assert.deepStrictEqual(typesOf(next), ["email.delivered"])
          assert.isTrue(yield* hooks.redeliver(dead!.id))
          yield* end(next[0]!, REFUSAL)
          const again = yield* claim()
          // It is late by nature: it neither waits nor is waited for.
          assert.deepStrictEqual(
            again.map(({ messageId, tries }) => [messageId, tries]),
            [[dead!.messageId, 1]]
          )
          yield* end(again[0]!, RECEIPT)
          assert.isFalse(yield* hooks.redeliver(LEASE))
        }).pipe(Effect.provide(layer))
    )

    it.effect(
      "a claim whose process died is due again after its lease; a late receipt counts, a late failure does not",
      () =>
        Effect.gen(function* () {
          const { id } = yield* EventHooks.use((hooks) => hooks.add(NEW))
          yield* tell("email.sent", "key:1")
          yield* tell("email.sent", "key:2")
          const first = yield* claim()
          assert.deepStrictEqual(yield* claim({ lease: OTHER }), [])
          yield* advance(LEASE_MS)
          const second = yield* claim({ lease: OTHER })
          assert.lengthOf(second, 2)
          yield* end(first[0]!, RECEIPT)
          yield* end(first[1]!, REFUSAL)
          assert.lengthOf(yield* rowsOf(id, "delivered"), 1)
          const [pending] = yield* rowsOf(id, "pending")
          assert.deepInclude(pending, { tries: 2, answerStatus: null })
          yield* end(
            second.find((one) => one.id === pending!.id)!,
            RECEIPT,
            OTHER
          )
          assert.lengthOf(yield* rowsOf(id, "delivered"), 2)
        }).pipe(Effect.provide(layer))
    )

    it.effect("a hook has places of its own, and one that does not answer has one (EVENT-82)", () =>
      Effect.gen(function* () {
        const { mails: slow, documents: quick } = yield* twoHooks
        const first = yield* claim({ each: 3 })
        const ofHook = (claimed: ReadonlyArray<ClaimedDelivery>, { id }: { readonly id: string }) =>
          claimed.filter(({ hookId }) => hookId === id)
        assert.deepStrictEqual(
          [slow, quick].map((hook) => ofHook(first, hook).length),
          [3, 3]
        )
        yield* end(ofHook(first, slow)[0]!, REFUSAL)
        const second = yield* claim({ each: 3, busy: new Map([[quick.id, 1]]) })
        assert.deepStrictEqual(
          [slow, quick].map((hook) => ofHook(second, hook).length),
          [1, 2]
        )
        const third = yield* claim({ each: 3, busy: new Map([[slow.id, 1]]) })
        assert.deepStrictEqual(
          [slow, quick].map((hook) => ofHook(third, hook).length),
          [0, 3]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("O2: the last places are for hooks that answer, one each (EVENT-82)", () =>
      Effect.gen(function* () {
        const { mails: failing, documents: quick } = yield* twoHooks
        const [first] = yield* claim({ limit: 3, spare: 2, busy: new Map([[quick.id, 100]]) })
        assert.strictEqual(first?.hookId, failing.id)
        yield* end(first!, REFUSAL)
        const scarce = yield* claim({ limit: 2, spare: 2 })
        assert.deepStrictEqual(
          scarce.map(({ hookId }) => hookId),
          [quick.id]
        )
        assert.lengthOf(yield* claim({ limit: 2, spare: 2, busy: new Map([[quick.id, 1]]) }), 0)
        assert.lengthOf(yield* claim({ limit: 5, spare: 2 }), 3)
      }).pipe(Effect.provide(layer))
    )

    it.effect(
      "five days without a receipt switch a hook off: its events die, and are sent again from a time",
      () =>
        Effect.gen(function* () {
          const hooks = yield* EventHooks
          const { id } = yield* hooks.add(NEW)
          yield* tell("email.sent", "key:1")
          yield* end((yield* claim())[0]!, REFUSAL)
          yield* advance("4 days")
          yield* end((yield* claim())[0]!, REFUSAL)
          assert.deepStrictEqual(yield* hooks.tend, [])
          yield* advance("25 hours")
          assert.deepStrictEqual(yield* hooks.tend, [], "no failed try on the last day")
          yield* end((yield* claim())[0]!, REFUSAL)
          yield* tell("email.delivered", "key:1")
          assert.deepStrictEqual(yield* hooks.tend, [id])
          assert.deepStrictEqual(yield* hooks.tend, [])
          yield* tell("email.opened", "key:1")
          assert.deepInclude(yield* hooks.find(id), { enabled: false, offBy: "itself", pending: 0, dead: 3 })
          assert.strictEqual(yield* hooks.redeliverFrom(id, "1960-01-01T00:00:00Z"), 0)
          assert.isUndefined(yield* hooks.test(id))
          yield* hooks.change(id, { enabled: true })
          assert.strictEqual(yield* hooks.redeliverFrom(id, "1960-01-01T00:00:00Z"), 3)
          const claimed = yield* claim()
          // The second and the third were never tried: they keep their order.
          assert.deepStrictEqual(typesOf(claimed), ["email.sent", "email.delivered"])
          assert.deepStrictEqual(yield* hooks.tend, [])
        }).pipe(Effect.provide(layer))
    )

    it.effect(
      "a receipt keeps a hook on, and a person's pause writes nothing and keeps what is pending",
      () =>
        Effect.gen(function* () {
          const hooks = yield* EventHooks
          const { id } = yield* hooks.add(NEW)
          yield* tell("email.sent", "key:1")
          yield* end((yield* claim())[0]!, REFUSAL)
          yield* advance("6 days")
          yield* end((yield* claim())[0]!, RECEIPT)
          yield* tell("email.sent", "key:2")
          yield* end((yield* claim())[0]!, REFUSAL)
          assert.deepStrictEqual(yield* hooks.tend, [])
          yield* hooks.change(id, { enabled: false })
          yield* tell("email.sent", "key:3")
          yield* advance("1 hour")
          assert.deepStrictEqual(yield* claim(), [])
          yield* hooks.change(id, { enabled: true, types: ["email.bounced"], url: "https://other.test/" })
          yield* tell("email.sent", "key:4")
          assert.deepStrictEqual(
            (yield* claim()).map(({ tries, url }) => [tries, url]),
            [[2, "https://other.test/"]]
          )
          assert.isTrue(yield* hooks.remove(id))
          assert.isFalse(yield* hooks.remove(id))
          assert.isFalse(yield* hooks.change(id, { enabled: true }))
          assert.isUndefined(yield* hooks.find(id))
        }).pipe(Effect.provide(layer))
    )

    it.effect("rotation signs with both secrets for 24 hours; a test is sent whatever the types", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const { id, secret } = yield* hooks.add({ ...NEW, types: ["suppression.*"] })
        const next = yield* hooks.rotate(id)
        assert.isString((yield* hooks.find(id))!.rotatingUntil)
        assert.isString(yield* hooks.test(id))
        const secrets = Effect.map(claim(), ([one]) => one!.secrets.map((text) => Redacted.value(text)))
        assert.deepStrictEqual(yield* secrets, [next, secret])
        yield* advance("1430 minutes")
        yield* hooks.test(id)
        assert.deepStrictEqual(yield* secrets, [next, secret])
        yield* advance("10 minutes")
        yield* hooks.test(id)
        assert.deepStrictEqual(yield* secrets, [next])
        // Who rotates again, say because the first answer was lost, takes no secret from the receiver.
        const later = yield* Effect.forEach([1, 2], () => hooks.rotate(id))
        yield* advance("1 minute")
        yield* hooks.test(id)
        assert.deepStrictEqual(yield* secrets, [...later.toReversed(), next])
        const many = yield* Effect.forEach([1, 2, 3, 4], () => hooks.rotate(id))
        yield* advance("1 minute")
        yield* hooks.test(id)
        assert.deepStrictEqual(yield* secrets, many.toReversed())
        assert.isUndefined(yield* hooks.rotate(LEASE))
        assert.isUndefined(yield* hooks.test(LEASE))
      }).pipe(Effect.provide(layer))
    )

    it.effect(
      "what is written while the one before it is being sent goes out after its receipt (EVENT-81)",
      () =>
        Effect.gen(function* () {
          yield* EventHooks.use((hooks) => hooks.add(NEW))
          yield* tell("email.sent", "key:1")
          const first = yield* claim()
          yield* tell("email.delivered", "key:1")
          yield* end(first[0]!, RECEIPT)
          assert.deepStrictEqual(typesOf(yield* claim()), ["email.delivered"])
        }).pipe(Effect.provide(layer))
    )

    it.effect("an event is received once, and each receipt says that its hook answers (EVENT-82)", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const { id } = yield* hooks.add(NEW)
        for (const key of ["key:1", "key:2", "key:3"]) yield* tell("email.sent", key)
        const first = yield* claim()
        yield* end(first[0]!, RECEIPT)
        yield* end(first[0]!, { ...RECEIPT, status: 200 })
        assert.deepInclude((yield* rowsOf(id, "delivered"))[0], { answerStatus: 204 })
        assert.isNotNull((yield* hooks.find(id))!.receivedAt)
        yield* end(first[1]!, REFUSAL)
        assert.isNotNull((yield* hooks.find(id))!.failingSince)
        yield* end(first[2]!, RECEIPT)
        assert.isNull((yield* hooks.find(id))!.failingSince)
        yield* advance("11 seconds")
        const { receivedAt } = (yield* hooks.find(id))!
        yield* end((yield* claim())[0]!, RECEIPT)
        assert.notStrictEqual((yield* hooks.find(id))!.receivedAt, receivedAt)
      }).pipe(Effect.provide(layer))
    )

    it.effect("a hook that switches itself off keeps what it received, also what it receives then", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const { id } = yield* hooks.add(NEW)
        yield* tell("email.sent", "key:1")
        yield* end((yield* claim())[0]!, RECEIPT)
        yield* tell("email.sent", "key:2")
        yield* tell("email.delivered", "key:2")
        yield* end((yield* claim())[0]!, REFUSAL)
        yield* advance("5 days")
        yield* end((yield* claim())[0]!, REFUSAL)
        yield* advance("5 minutes")
        const late = yield* claim()
        assert.deepStrictEqual(yield* hooks.tend, [id])
        yield* end(late[0]!, RECEIPT)
        assert.deepStrictEqual(
          (yield* rowsOf(id)).map(({ state, type }) => [type, state]),
          [
            ["email.delivered", "dead"],
            ["email.sent", "delivered"],
            ["email.sent", "delivered"]
          ]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect(
      "what waits for its next try is sent now, in its place and with the tries that are left to it",
      () =>
        Effect.gen(function* () {
          const hooks = yield* EventHooks
          const { id } = yield* hooks.add(NEW)
          yield* tell("email.sent", "key:1")
          yield* tell("email.delivered", "key:1")
          yield* end((yield* claim())[0]!, REFUSAL)
          const later = yield* rowsOf(id, "pending")
          const first = later.find(({ tries }) => tries === 1)
          assert.deepStrictEqual(yield* claim(), [])
          assert.isTrue(yield* hooks.redeliver(first!.id))
          const [second] = yield* claim()
          assert.deepInclude(second, { id: first!.id, tries: 2 })
          assert.isFalse(yield* hooks.redeliver(first!.id), "it is being tried")
          yield* end(second!, REFUSAL)
          assert.strictEqual(yield* hooks.redeliverFrom(id, "1960-01-01T00:00:00Z"), 1)
          const [third, ...others] = yield* claim()
          assert.deepInclude(third, { id: first!.id, tries: 3 })
          assert.deepStrictEqual(others, [], "the later event waits for the earlier one")
          yield* end(third!, RECEIPT)
          assert.deepStrictEqual(typesOf(yield* claim()), ["email.delivered"])
        }).pipe(Effect.provide(layer))
    )

    it.effect("only what was tried is sent once more, and from a time nothing that was received", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const { id } = yield* hooks.add(NEW)
        yield* tell("email.sent", "key:1")
        const received = yield* claim()
        yield* end(received[0]!, RECEIPT)
        yield* tell("email.sent", "key:2")
        const [pending] = yield* rowsOf(id, "pending")
        assert.isFalse(yield* hooks.redeliver(pending!.id))
        assert.strictEqual(yield* hooks.redeliverFrom(id, "1960-01-01T00:00:00Z"), 0)
        assert.isTrue(yield* hooks.redeliver(received[0]!.id))
        assert.sameMembers(
          (yield* claim()).map((one) => one.id),
          [received[0]!.id, pending!.id]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("what ended is deleted 30 days later, and nothing that is still to be sent (EVENT-83)", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const { id } = yield* hooks.add(NEW)
        yield* tell("email.sent", "key:1")
        yield* tell("email.delivered", "key:1")
        yield* end((yield* claim())[0]!, RECEIPT)
        const typesAfter = (time: Duration.Input) =>
          Effect.gen(function* () {
            yield* advance(time)
            yield* hooks.tend
            return (yield* rowsOf(id)).map(({ type }) => type)
          })
        assert.deepStrictEqual(yield* typesAfter("716 hours"), ["email.delivered", "email.sent"])
        assert.deepStrictEqual(yield* typesAfter("5 hours"), ["email.delivered"])
      }).pipe(Effect.provide(layer))
    )

    it.effect("the settings' hook is one more, changed where it is set, and off without them", () =>
      Effect.gen(function* () {
        const hooks = yield* EventHooks
        const secrets = ["whsec_AAAA", "whsec_BBBB"].map((text) => Redacted.make(text))
        yield* hooks.adopt(undefined)
        yield* hooks.adopt({ url: "https://a.test/", secrets })
        yield* hooks.adopt({ url: "https://b.test/", secrets })
        const { rows } = yield* hooks.page({ limit: 10, cursor: undefined })
        assert.deepStrictEqual(
          rows.map(({ enabled, fromSettings, rotatingUntil, url }) => [
            enabled,
            fromSettings,
            rotatingUntil,
            url
          ]),
          [[true, true, null, "https://b.test/"]]
        )
        const { id } = rows[0]!
        yield* tell("email.sent", "key:1")
        assert.deepStrictEqual(
          (yield* claim())[0]!.secrets.map((one) => Redacted.value(one)),
          ["whsec_AAAA", "whsec_BBBB"]
        )
        assert.isUndefined(yield* hooks.rotate(id))
        assert.isFalse(yield* hooks.remove(id))
        assert.isTrue(yield* hooks.change(id, { url: "https://c.test/", enabled: false }))
        yield* hooks.adopt({ url: "https://b.test/", secrets: secrets.slice(0, 1) })
        assert.deepInclude(yield* hooks.find(id), { url: "https://b.test/", offBy: "person" })
        yield* hooks.change(id, { enabled: true })
        yield* hooks.adopt(undefined)
        assert.deepInclude(yield* hooks.find(id), { offBy: "settings" })
        yield* hooks.adopt({ url: "https://b.test/", secrets })
        assert.deepInclude(yield* hooks.find(id), { offBy: null })
      }).pipe(Effect.provide(layer))
    )
  })
