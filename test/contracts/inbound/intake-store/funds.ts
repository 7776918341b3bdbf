import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { IntakeStore, type MailEnd } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, DocumentsWorld, funds } from "../../conversion/documents-world.ts"
import {
  admit,
  claim,
  converting,
  emailOf,
  finish,
  IntakeWorld,
  kinds,
  mailOf,
  repliesTo,
  type Stores,
  taken
} from "./world.ts"

/** Mails and their funds: set aside, charged once, released. */
export const fundsOfMails = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`mails and their funds: ${name}`, (it) => {
    it.effect(
      "an admitted mail has its funds set aside and its acknowledgement queued; the rest is not enough",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const owner = yield* customer(5)
          const mail = yield* converting(owner, 3)
          assert.deepStrictEqual(
            [mail.attempts, mail.failures, mail.sender, mail.job],
            [
              1,
              0,
              emailOf(owner),
              {
                customerId: owner,
                filename: "a.pdf",
                fileBytes: 100,
                pages: 3,
                ignored: ["b.png"],
                sourceKey: `mails/${mail.id}/source.pdf`
              }
            ]
          )
          assert.strictEqual(yield* admit(mail, owner, 3), "admitted", "the same call again")
          assert.deepStrictEqual(yield* funds(owner), { credits: 5, held: 3, charged: 0 })
          assert.deepStrictEqual(yield* kinds(mail.id), ["processing-started"])
          const other = yield* taken
          assert.deepStrictEqual(yield* admit(other, owner, 3), { plan: "paid", balance: 2 })
          assert.deepStrictEqual(yield* kinds(other.id), [])
          assert.deepStrictEqual(yield* store.customer(emailOf(owner)), {
            id: owner,
            email: emailOf(owner),
            plan: "paid",
            balance: 2
          })
        })
    )

    it.effect("a result is charged once, with its reply and its log entry, which says what is left", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* IntakeWorld
        const owner = yield* customer(10)
        const mail = yield* converting(owner, 3)
        assert.strictEqual(yield* finish({ ...mail, lease: anyId() }, owner, 3), "stale")
        assert.strictEqual(yield* finish(mail, owner, 2, { unreadable: [3] }), "completed")
        assert.strictEqual(yield* finish(mail, owner, 2, { unreadable: [3] }), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
        const [, reply] = yield* repliesTo(mail.id)
        assert.deepInclude(reply?.content, { kind: "success", creditsCharged: 2, balance: 8 })
        assert.deepInclude(yield* world.logged(mail.id), {
          status: "success",
          sender: emailOf(owner),
          totalPages: 3,
          creditsCharged: 2
        })
        const row = yield* mailOf(mail.id)
        assert.deepStrictEqual([row?.step, row?.outcome, row?.pages], ["ended", "success", 3])
        assert.isTrue(
          yield* IntakeStore.use((store) => store.end(mail, { outcome: "error", reason: "late" })),
          "this lease has ended it"
        )
        assert.strictEqual((yield* mailOf(mail.id))?.outcome, "success")
      })
    )

    it.effect(
      "more pages than were set aside are charged where the funds suffice, and end nothing where not",
      () =>
        Effect.gen(function* () {
          yield* clean
          const owner = yield* customer(5)
          const mail = yield* converting(owner, 2)
          assert.deepStrictEqual(yield* finish(mail, owner, 6), { plan: "paid", balance: 5 })
          assert.strictEqual((yield* mailOf(mail.id))?.step, "converting")
          assert.strictEqual(yield* finish(mail, owner, 5), "completed")
          assert.deepStrictEqual(yield* funds(owner), { credits: 0, held: 0, charged: 5 })
          const free = yield* customer("free")
          const small = yield* converting(free, 2)
          assert.deepStrictEqual(yield* finish(small, free, 11), { plan: "free", balance: 10 })
        })
    )

    it.effect("a hold that has lapsed is charged while the funds suffice", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const owner = yield* customer(3)
        const mail = yield* converting(owner, 2)
        yield* world.lapsesIn(mail.id, -1)
        yield* world.spend(owner, 2)
        assert.deepStrictEqual(yield* finish(mail, owner, 2), { plan: "paid", balance: 1 })
        assert.strictEqual(yield* finish(mail, owner, 1), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 0, held: 0, charged: 1 })
      })
    )

    it.effect(
      "an end without a result releases the funds, queues its reply and logs a failed conversion, once",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* IntakeWorld
          const store = yield* IntakeStore
          const owner = yield* customer(10)
          const mail = yield* converting(owner, 3)
          const end: MailEnd = {
            outcome: "error",
            reason: "it is broken",
            jobError: "broken",
            reply: {
              recipient: emailOf(owner),
              content: { kind: "error", fileName: "a.pdf", reason: "it is broken" }
            }
          }
          assert.isTrue(yield* store.end(mail, end))
          assert.isTrue(yield* store.end(mail, end))
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          assert.deepStrictEqual(yield* kinds(mail.id), ["processing-started", "error"])
          assert.deepInclude(yield* world.logged(mail.id), {
            status: "error",
            totalPages: 3,
            creditsCharged: 0,
            error: "broken"
          })
          assert.strictEqual((yield* mailOf(mail.id))?.reason, "it is broken")
          assert.strictEqual(yield* finish(mail, owner, 3), "stale")
          assert.isUndefined(yield* claim("converting", anyId(), Duration.zero))
        })
    )
  })
