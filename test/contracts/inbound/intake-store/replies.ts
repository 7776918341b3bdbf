import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { IntakeStore, type MailEnd } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, pass } from "../../conversion/documents-world.ts"
import {
  converting,
  emailOf,
  finish,
  HINT,
  HOME,
  kinds,
  mailOf,
  repliesTo,
  STARTED,
  type Stores,
  taken
} from "./world.ts"

/** Replies to mails: to whom, how often, in which order. */
export const replies = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`replies to mails: ${name}`, (it) => {
    const ended = (reply: MailEnd["reply"]) =>
      Effect.gen(function* () {
        const store = yield* IntakeStore
        const mail = yield* taken
        yield* store.end(mail, { outcome: "no_attachment", reason: "r", reply })
        return mail.id
      })

    it.effect("a stranger is answered once a day", () =>
      Effect.gen(function* () {
        yield* clean
        const content = {
          kind: "unregistered",
          address: "who@x.test",
          registerUrl: "https://p.test"
        } as const
        const stranger = ended({ recipient: "who@x.test", content, stranger: true })
        assert.deepStrictEqual(yield* kinds(yield* stranger), ["unregistered"])
        assert.deepStrictEqual(yield* kinds(yield* stranger), [])
        yield* IntakeStore.use((store) => store.purge)
        assert.deepStrictEqual(yield* kinds(yield* stranger), [], "housekeeping keeps those of a day")
        yield* pass(Duration.hours(25))
        assert.deepStrictEqual(yield* kinds(yield* stranger), ["unregistered"])
      })
    )

    it.effect(
      "replies that only explain how to send a file are braked within the hour, and the log says so",
      () =>
        Effect.gen(function* () {
          yield* clean
          const hint = ended({ recipient: "who@x.test", content: HINT, brake: 2 })
          assert.deepStrictEqual(yield* kinds(yield* hint), ["no-attachment"])
          assert.deepStrictEqual(yield* kinds(yield* hint), ["no-attachment"])
          const third = yield* hint
          assert.deepStrictEqual(yield* kinds(third), [])
          assert.strictEqual(
            (yield* mailOf(third))?.reason,
            "r (not answered: 2 such replies within an hour)"
          )
          yield* pass(Duration.minutes(61))
          assert.deepStrictEqual(yield* kinds(yield* hint), ["no-attachment"])
        })
    )

    it.effect("replies of a mail go out in their order, each held by one sender until its time is over", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const mail = yield* converting(owner, 3)
        yield* finish(mail, owner, 3)
        const send = store.claimReply(anyId(), Duration.minutes(5), HOME)
        const first = yield* send
        assert.deepInclude(first, {
          mailId: mail.id,
          recipient: emailOf(owner),
          content: STARTED,
          asLink: false,
          attempts: 1,
          unknowns: 0,
          messageId: `<${mail.id}@x.test>`,
          subject: "Subject",
          references: undefined,
          filename: "a.pdf",
          result: { key: `mails/${mail.id}/result.html`, bytes: 7 }
        })
        assert.isUndefined(yield* send, "the result's reply waits for the acknowledgement")
        yield* pass(Duration.minutes(6))
        const second = yield* store.claimReply(anyId(), Duration.minutes(5), HOME)
        assert.deepStrictEqual([second?.id, second?.attempts], [first?.id, 2])
        assert.isFalse(yield* store.replySent({ id: first!.id, lease: anyId() }))
        assert.isTrue(yield* store.replySent(second!))
        assert.isFalse(yield* store.replySent(second!))
        const result = yield* send
        assert.strictEqual(result?.content.kind, "success")
        const retry = { after: Duration.minutes(2), error: "too large", asLink: true, unknown: true }
        assert.isTrue(yield* store.retryReply(result!, retry))
        assert.isFalse(yield* store.retryReply(result!, retry))
        assert.isUndefined(yield* send)
        yield* pass(Duration.minutes(3))
        const again = yield* send
        assert.deepStrictEqual([again?.asLink, again?.unknowns, again?.attempts], [true, 1, 2])
        assert.isTrue(yield* store.retryReply(again!, { ...retry, asLink: false, unknown: false }))
        yield* pass(Duration.minutes(3))
        const last = yield* send
        assert.deepStrictEqual([last?.asLink, last?.unknowns], [true, 1])
        assert.isTrue(yield* store.replyFailed(last!, "refused"))
        assert.deepStrictEqual(
          (yield* repliesTo(mail.id)).map(({ status }) => status),
          ["sent", "failed"]
        )
      })
    )
  })
