import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { CustomerId } from "../../../../src/domain/ids.ts"
import { Accounts } from "../../../../src/ports/accounts/accounts.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, funds, pass, WINDOW } from "../../conversion/documents-world.ts"
import {
  converting,
  emailOf,
  finish,
  HOME,
  identityOf,
  IntakeWorld,
  kinds,
  mailOf,
  repliesTo,
  sendReplies,
  type Stores,
  taken
} from "./world.ts"

/** Mails that have ended: their objects, their rows, their senders. */
export const afterwards = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`mails that have ended: ${name}`, (it) => {
    const LIVES = Duration.days(14)
    const completed = Effect.fnUntraced(function* (owner: CustomerId, asLink: boolean) {
      const mail = yield* converting(owner, 1)
      yield* finish(mail, owner, 1, { asLink })
      return mail.id
    })

    it.effect("objects go once the replies have gone: all of them, or all but a result behind a link", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const [attached, linked] = [yield* completed(owner, false), yield* completed(owner, true)]
        assert.deepStrictEqual(yield* store.toClean(10, LIVES, HOME), [])
        yield* sendReplies
        assert.deepStrictEqual(yield* store.toClean(10, LIVES, HOME), [
          { id: attached, everything: true },
          { id: linked, everything: false }
        ])
        yield* store.cleaned(attached, "all")
        yield* store.cleaned(linked, "source")
        assert.deepStrictEqual(yield* store.toClean(10, LIVES, HOME), [])
        const unknown = anyId()
        assert.deepStrictEqual(yield* store.withoutObjects([attached, linked, unknown]), [attached, unknown])
        assert.isUndefined(yield* store.result(attached))
        assert.deepStrictEqual(yield* store.result(linked), {
          key: `mails/${linked}/result.html`,
          filename: "a.pdf"
        })
        yield* pass(Duration.days(15))
        assert.deepStrictEqual(yield* store.toClean(10, LIVES, HOME), [{ id: linked, everything: true }])
      })
    )

    it.effect("a paid result is kept behind a link where its reply did not bring it", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const attached = yield* completed(owner, false)
        yield* sendReplies
        const failed = yield* completed(owner, false)
        const names = Effect.map(store.keptResults(owner, LIVES), (kept) =>
          kept.map(({ id, reply }) => [id, reply])
        )
        assert.deepStrictEqual(yield* names, [[failed, "queued"]])
        const first = yield* store.claimReply(anyId(), Duration.minutes(5), HOME)
        yield* store.replySent(first!)
        const reply = yield* store.claimReply(anyId(), Duration.minutes(5), HOME)
        yield* store.replyFailed(reply!, "refused")
        const [kept] = yield* store.keptResults(owner, LIVES)
        assert.deepInclude(kept, {
          id: failed,
          name: "a.pdf",
          pages: 1,
          unreadablePages: [],
          hasText: true,
          creditsCharged: 1,
          reply: "failed"
        })
        assert.isAbove(kept!.expiresAt, Date.parse(kept!.convertedAt))
        assert.deepStrictEqual(yield* store.keptResults(anyId(), LIVES), [])
        assert.sameDeepMembers(
          [...(yield* store.toClean(10, LIVES, HOME))],
          [
            { id: attached, everything: true },
            { id: failed, everything: false }
          ]
        )
        yield* pass(Duration.days(15))
        assert.deepStrictEqual(yield* names, [])
      })
    )

    it.effect("a result stays for no reply but its own", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const id = yield* completed(yield* customer(10), false)
        const started = (yield* store.claimReply(anyId(), Duration.minutes(5), HOME))!
        yield* store.replyFailed(started, "refused")
        yield* sendReplies
        assert.deepStrictEqual(yield* store.toClean(1, LIVES, HOME), [{ id, everything: true }])
      })
    )

    it.effect("mails that ended long ago are deleted, their objects gone first", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const [old, kept] = [yield* completed(owner, false), yield* completed(owner, false)]
        yield* sendReplies
        yield* store.cleaned(old, "all")
        yield* pass(Duration.days(89))
        yield* store.purge
        assert.isDefined(yield* mailOf(old))
        yield* pass(Duration.days(2))
        yield* store.purge
        assert.deepStrictEqual([yield* mailOf(old), yield* repliesTo(old)], [undefined, []])
        assert.isDefined(yield* mailOf(kept))
      })
    )

    it.effect("a customer whose account is closed is none; an address that nobody has is a stranger's", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const accounts = yield* Accounts
        const owner = yield* customer("free")
        assert.deepInclude(yield* store.customer(emailOf(owner)), { plan: "free", balance: 10 })
        assert.strictEqual(yield* store.customerEmail(owner), emailOf(owner))
        assert.deepStrictEqual(yield* store.suppressions(emailOf(owner)), [])
        const closed = yield* accounts.close(owner)
        assert.strictEqual(closed?.email, emailOf(owner))
        assert.isUndefined(yield* accounts.close(owner))
        assert.isUndefined(yield* accounts.funds(owner))
        assert.isUndefined(yield* store.customer(emailOf(owner)))
        assert.isUndefined(yield* store.customerEmail(owner))
        assert.isUndefined(yield* store.customer("who@x.test"))
      })
    )

    it.effect(
      "a person who is erased leaves no mail, reply or address; a conversion under way is given up",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* IntakeWorld
          const store = yield* IntakeStore
          const accounts = yield* Accounts
          const owner = yield* customer(10)
          const done = yield* completed(owner, true)
          const live = yield* converting(owner, 2)
          assert.isTrue(yield* accounts.erase({ email: emailOf(owner), actor: "admin" }))
          for (const id of [done, live.id]) {
            const row = yield* mailOf(id)
            assert.deepStrictEqual([row?.step, row?.reason], ["ended", "the person was erased"])
            assert.deepStrictEqual(yield* repliesTo(id), [])
          }
          assert.notInclude((yield* world.logged(done))?.sender ?? "", emailOf(owner))
          assert.isUndefined(yield* store.result(done))
          assert.isFalse(yield* store.heartbeat(live, WINDOW))
          assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
          assert.isFalse(yield* accounts.erase({ email: emailOf(owner), actor: "admin" }))
        })
    )

    it.effect("a person who is erased is new when they write again: with the same mail, within the day", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const erase = Accounts.use((accounts) => accounts.erase({ email: "who@x.test", actor: "admin" }))
        const writes = Effect.gen(function* () {
          const mail = yield* taken
          const answer = yield* store.identify(mail, identityOf("one", "who@x.test", ["s"]), 9)
          const content = {
            kind: "unregistered",
            address: "who@x.test",
            registerUrl: "https://p.test"
          } as const
          yield* store.end(mail, {
            outcome: "unregistered",
            reason: "r",
            reply: { recipient: "who@x.test", content, stranger: true }
          })
          return [answer, ...(yield* kinds(mail.id))]
        })
        assert.deepStrictEqual(yield* writes, ["claimed", "unregistered"])
        assert.deepStrictEqual(yield* writes, ["duplicate"])
        assert.isTrue(yield* erase)
        assert.deepStrictEqual(yield* writes, ["claimed", "unregistered"])
      })
    )
  })
