import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, pass, STALE } from "../../conversion/documents-world.ts"
import { admitted, claim, finish, HOME, type Stores } from "./world.ts"

/** The mail that is converted next, and is then over. */
const converted = Effect.gen(function* () {
  const mail = yield* claim("converting")
  if (mail?.job !== undefined) yield* finish(mail, mail.job.customerId, 1)
  return mail?.id
})

/** Whose mail is converted next (H3). */
export const turns = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`turns of conversions of mails: ${name}`, (it) => {
    it.effect("H3: customers take turns, and of one the mail that waits longest is first", () =>
      Effect.gen(function* () {
        yield* clean
        const [busy, quiet] = [yield* customer(100), yield* customer(100)]
        const many = yield* admitted(busy, 4)
        const few = yield* admitted(quiet, 2)
        const order: Array<string | undefined> = []
        for (let n = 0; n < 6; n++) order.push(yield* converted)
        assert.sameMembers(order.slice(0, 2), [many[0], few[0]])
        assert.sameMembers(order.slice(2, 4), [many[1], few[1]])
        assert.deepStrictEqual(order.slice(4), many.slice(2))
        assert.isUndefined(yield* converted)
      })
    )

    it.effect("H3: a customer of whom a mail is being converted is passed over while another one waits", () =>
      Effect.gen(function* () {
        yield* clean
        const [busy, quiet] = [yield* customer(100), yield* customer(100)]
        const many = yield* admitted(busy, 3)
        assert.strictEqual((yield* claim("converting"))?.id, many[0])
        const few = yield* admitted(quiet, 2)
        assert.strictEqual((yield* claim("converting"))?.id, few[0])
        // Both are busy: a worker that is free does not stand still.
        assert.sameMembers(
          [(yield* claim("converting"))?.id, (yield* claim("converting"))?.id],
          [many[1], few[1]]
        )
        assert.strictEqual((yield* claim("converting"))?.id, many[2])
      })
    )

    it.effect("H3: a worker for customers of whom no mail is being converted takes no others", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const next = Effect.suspend(() =>
          Effect.map(store.claim("converting", anyId(), STALE, HOME, { ofIdle: true }), (mail) => mail?.id)
        )
        const [busy, quiet] = [yield* customer(3000), yield* customer(3000)]
        const many = yield* admitted(busy, 2, 900)
        assert.strictEqual(yield* next, many[0])
        assert.isUndefined(yield* next)
        const [long] = yield* admitted(quiet, 1, 900)
        assert.strictEqual(yield* next, long)
        // A worker for all takes the rest.
        assert.strictEqual((yield* claim("converting"))?.id, many[1])
      })
    )

    it.effect("a worker for short mails takes no others, and the same claim again gives the same mail", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(2000)
        yield* admitted(owner, 1, 900)
        assert.isUndefined(yield* store.claim("converting", anyId(), STALE, HOME, { mostPages: 20 }))
        const short = yield* admitted(owner, 1, 20)
        const lease = anyId()
        const mail = yield* store.claim("converting", lease, STALE, HOME, { mostPages: 20 })
        assert.strictEqual(mail?.id, short[0])
        assert.deepStrictEqual(yield* store.claim("converting", lease, STALE, HOME, { mostPages: 20 }), mail)
        assert.strictEqual(mail?.attempts, 1)
        assert.isUndefined(yield* store.claim("converting", anyId(), STALE, HOME, { mostPages: 20 }))
        // Its worker went silent.
        yield* pass(Duration.times(STALE, 2))
        const again = yield* store.claim("converting", anyId(), STALE, HOME, { mostPages: 20 })
        assert.deepStrictEqual([again?.id, again?.attempts], [short[0], 2])
      })
    )
  })
