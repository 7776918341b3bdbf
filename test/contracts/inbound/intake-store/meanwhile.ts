import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { Accounts } from "../../../../src/ports/accounts/accounts.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, DocumentsWorld, pass, STALE } from "../../conversion/documents-world.ts"
import {
  admit,
  claim,
  converting,
  emailOf,
  ERROR,
  finish,
  HINT,
  HOME,
  kinds,
  mailOf,
  OUTAGE,
  repliesTo,
  type Stores,
  taken
} from "./world.ts"

const MINUTE = Duration.minutes(1)
const LATER = { after: MINUTE, counts: true }

/** What else happens to a mail while somebody writes. */
export const meanwhile = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`mails of which two things happen at once: ${name}`, (it) => {
    const held = Effect.fnUntraced(function* (step: "received" | "converting") {
      yield* clean
      const owner = yield* customer(10)
      return { owner, mail: step === "received" ? yield* taken : yield* converting(owner, 3) }
    })
    it.effect.each(["admit", "finish", "defer", "end"] as const)(
      "C2: a mail that is handed back meanwhile is as it was for who held it: %s",
      (call) =>
        Effect.gen(function* () {
          const { mail, owner } = yield* held(call === "admit" ? "received" : "converting")
          const store = yield* IntakeStore
          const calls: Readonly<Record<typeof call, Effect.Effect<unknown, unknown, IntakeStore>>> = {
            admit: admit(mail, owner, 3),
            finish: finish(mail, owner, 3),
            defer: store.defer(mail, OUTAGE),
            end: store.end(mail, ERROR)
          }
          const world = yield* DocumentsWorld
          const answer = yield* world.whileOpen(
            store.handBack(mail, LATER),
            Effect.provideService(calls[call], IntakeStore, store)
          )
          assert.strictEqual(answer, call === "end" ? false : "stale")
          const row = yield* mailOf(mail.id)
          assert.deepStrictEqual(
            [row?.step, row?.failures],
            [call === "admit" ? "received" : "converting", 0]
          )
        })
    )

    it.effect.each(["received", "converting"] as const)(
      "a claim that is sent again gets no mail that is handed back meanwhile: %s",
      (step) =>
        Effect.gen(function* () {
          const { mail } = yield* held(step)
          const world = yield* DocumentsWorld
          const store = yield* IntakeStore
          const again = store.claim(step, mail.lease, STALE, HOME)
          assert.isUndefined(yield* world.whileOpen(store.handBack(mail, LATER), again))
        })
    )

    it.effect.each(["received", "converting"] as const)(
      "a mail is claimed by nobody else while a worker that was taken for dead ends it: %s",
      (step) =>
        Effect.gen(function* () {
          const { mail } = yield* held(step)
          yield* pass(Duration.times(STALE, 2))
          const world = yield* DocumentsWorld
          const store = yield* IntakeStore
          const other = store.claim(step, anyId(), STALE, HOME)
          assert.isUndefined(yield* world.whileOpen(store.end(mail, ERROR), other))
          assert.isUndefined(yield* claim(step))
        })
    )

    it.effect("INBOUND-5: of two mails that end at once, one counts for the brake of the other", () =>
      Effect.gen(function* () {
        const { mail, owner } = yield* held("received")
        const other = yield* taken
        const store = yield* IntakeStore
        const world = yield* DocumentsWorld
        const end = {
          outcome: "no_attachment",
          reason: "r",
          reply: { recipient: emailOf(owner), content: HINT, brake: 1 }
        } as const
        assert.isTrue(yield* world.whileOpen(store.end(mail, end), store.end(other, end)))
        assert.deepStrictEqual([yield* kinds(mail.id), yield* kinds(other.id)], [["no-attachment"], []])
      })
    )

    it.effect("a reply that a sender is just claiming is left to that one", () =>
      Effect.gen(function* () {
        yield* held("converting")
        const store = yield* IntakeStore
        const world = yield* DocumentsWorld
        const send = Effect.suspend(() => store.claimReply(anyId(), MINUTE, HOME))
        assert.isUndefined(yield* world.whileOpen(send, send))
      })
    )

    it.effect("a person who is erased while a result is written leaves no reply, either", () =>
      Effect.gen(function* () {
        const { mail, owner } = yield* held("converting")
        const world = yield* DocumentsWorld
        const accounts = yield* Accounts
        const store = yield* IntakeStore
        const done = Effect.provideService(finish(mail, owner, 3), IntakeStore, store)
        const erased = accounts.erase({ email: emailOf(owner), actor: "admin" })
        assert.isTrue(yield* world.whileOpen(done, erased))
        assert.deepStrictEqual(yield* repliesTo(mail.id), [])
      })
    )
  })
