import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { CustomerId, MailId } from "../../../../src/domain/ids.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, pass, STALE } from "../../conversion/documents-world.ts"
import {
  admit,
  admitted,
  claim,
  converting,
  emailOf,
  finish,
  HOME,
  receivedFrom,
  sendReplies,
  type Stores
} from "./world.ts"

/** Customers in the order of their ids. */
const customers = Effect.fnUntraced(function* (count: number) {
  const all: Array<CustomerId> = []
  for (let n = 0; n < count; n++) all.push(yield* customer(10))
  return all.toSorted()
})

const LIVES = Duration.days(14)
const SOON = Duration.minutes(5)
const LATER = Duration.minutes(10)

/** In which order mails and replies are worked on, whatever the order in which they came. */
export const order = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`order of mails: ${name}`, (it) => {
    const handBack = Effect.fnUntraced(function* (step: "received" | "converting", after: Duration.Duration) {
      const mail = yield* claim(step)
      if (mail === undefined) return assert.fail("no mail to claim")
      yield* IntakeStore.use((store) => store.handBack(mail, { after, counts: true }))
      return mail.id
    })

    it.effect.each(["received", "converting"] as const)(
      "of one customer the mail that is due for longest is first, though it came later: %s",
      (step) =>
        Effect.gen(function* () {
          yield* clean
          const owner = yield* customer(10)
          if (step === "converting") yield* admitted(owner, 2)
          else for (let n = 0; n < 2; n++) yield* receivedFrom(emailOf(owner))
          const late = yield* handBack(step, LATER)
          const soon = yield* handBack(step, SOON)
          yield* pass(Duration.times(LATER, 2))
          assert.deepStrictEqual([(yield* claim(step))?.id, (yield* claim(step))?.id], [soon, late])
        })
    )

    it.effect("the reply that has waited longest goes out first, though it was written later", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        yield* admitted(yield* customer(10), 2)
        const putOff = Effect.fnUntraced(function* (after: Duration.Duration) {
          const reply = (yield* store.claimReply(anyId(), LATER, HOME))!
          yield* store.retryReply(reply, { after, error: "e", asLink: false, unknown: false })
          return reply.id
        })
        const late = yield* putOff(LATER)
        const soon = yield* putOff(SOON)
        yield* pass(Duration.times(LATER, 2))
        const next = Effect.map(store.claimReply(anyId(), LATER, HOME), (reply) => reply?.id)
        assert.deepStrictEqual([yield* next, yield* next], [soon, late])
      })
    )

    it.effect.each(["received", "converting"] as const)(
      "H3: nobody is left out by who came first, and whose mail is another process's to work on: %s",
      (step) =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const [first, second, third, last] = yield* customers(4)
          yield* receivedFrom(emailOf(last!), undefined, "r2")
          if (step === "converting") {
            const mail = (yield* claim("received", anyId(), STALE, "r2"))!
            assert.strictEqual(yield* admit(mail, last!, 1), "admitted")
          }
          const mails: Array<MailId> = []
          for (const owner of [first!, third!, second!])
            mails.push(
              ...(step === "received" ? [yield* receivedFrom(emailOf(owner))] : yield* admitted(owner, 1))
            )
          const found: Array<MailId | undefined> = []
          for (const _ of mails)
            found.push((yield* store.claim(step, anyId(), STALE, HOME, { ofIdle: true }))?.id)
          assert.sameMembers(found, mails)
        })
    )

    it.effect("H3: a mail that its headers ended gives its sender no earlier turn", () =>
      Effect.gen(function* () {
        yield* clean
        const [ann, bob] = [yield* customer(1), yield* customer(1)]
        yield* receivedFrom(emailOf(ann), { outcome: "automatic", reason: "r" })
        yield* pass(Duration.millis(5))
        const first = yield* receivedFrom(emailOf(bob))
        yield* pass(Duration.millis(5))
        const second = yield* receivedFrom(emailOf(ann))
        assert.deepStrictEqual(
          [(yield* claim("received"))?.id, (yield* claim("received"))?.id],
          [first, second]
        )
      })
    )

    it.effect("H3: a customer is busy no longer than a mail is being converted", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const [, next] = yield* admitted(owner, 2)
        const idle = Effect.suspend(() => store.claim("converting", anyId(), STALE, HOME, { ofIdle: true }))
        const mail = (yield* idle)!
        assert.isUndefined(yield* idle)
        yield* finish(mail, owner, 1)
        assert.strictEqual((yield* idle)?.id, next)
      })
    )

    it.effect("objects of what ended first go first, and what ended last is listed first", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const [one, two] = [yield* converting(owner, 1), yield* converting(owner, 1)]
        yield* finish(two, owner, 1, { asLink: true })
        yield* finish(one, owner, 1, { asLink: true })
        yield* finish(yield* converting(owner, 1), owner, 1)
        yield* sendReplies
        const kept = yield* store.keptResults(owner, LIVES)
        assert.deepStrictEqual(
          kept.map(({ id }) => id),
          [one.id, two.id]
        )
        const cleaned = Effect.map(store.toClean(2, LIVES, HOME), (mails) => mails.map(({ id }) => id))
        assert.deepStrictEqual(yield* cleaned, [two.id, one.id])
      })
    )
  })
