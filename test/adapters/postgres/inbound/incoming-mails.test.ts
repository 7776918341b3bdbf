import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/inbound/incoming-mails.ts"
import * as Intake from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import type { LeaseId, MailId } from "../../../../src/domain/ids.ts"
import { IncomingMails } from "../../../../src/ports/inbound/incoming-mails.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const HOME = "bucket"
const DAY = Duration.days(1)

const received = Effect.fnUntraced(function* (sender: string | undefined, outcome?: "unverified") {
  const store = yield* IntakeStore
  const id: MailId = anyId()
  yield* store.receive({
    id,
    rawKey: `mails/${id}/raw.eml`,
    rawBytes: 1_234,
    envelopeFrom: "Bounces@X.test",
    peerTrusted: true,
    home: HOME,
    verifiedSender: sender,
    ended: outcome === undefined ? undefined : { outcome, reason: "DMARC fail" }
  })
  return id
})

const claimed = Effect.fnUntraced(function* () {
  const store = yield* IntakeStore
  const lease: LeaseId = anyId()
  const mail = yield* store.claim("received", lease, DAY, HOME)
  return mail ?? (yield* Effect.die(new Error("no mail to claim")))
})

const customer = Effect.fnUntraced(function* (email: string) {
  const sql = yield* WriteSql
  const rows = yield* sql.unsafe<{ readonly id: string }>(
    "insert into customers (email, plan_type, credits_remaining) values ($1, 'paid', 9) returning id",
    [email]
  )
  return anyId(rows[0]!.id)
})

suiteLayer(Layer.merge(layer, Intake.layer).pipe(Layer.provideMerge(layerPostgres)))(
  "mails as people see them",
  (it) => {
    it.effect("each with its steps, its verdict, its replies and its charge; filtered, page by page", () =>
      Effect.gen(function* () {
        const mails = yield* IncomingMails
        const store = yield* IntakeStore
        const ann = yield* customer("ann@reader.test")
        const forged = yield* received(undefined, "unverified")
        const asked = yield* received("ann@reader.test")
        const mail = yield* claimed()
        assert.strictEqual(mail.id, asked)
        yield* store.end(mail, {
          outcome: "no_attachment",
          reason: "it has no attachment",
          customerId: ann,
          reply: {
            recipient: "ann@reader.test",
            content: { kind: "no-attachment", convertAddress: "c@x.test" }
          }
        })
        const waiting = yield* received("bob@reader.test")
        const { nextCursor, rows } = yield* mails.page({ limit: 2 })
        assert.deepStrictEqual(
          rows.map(({ id }) => id),
          [waiting, asked]
        )
        const [, answered] = rows
        assert.deepInclude(answered, {
          sender: "ann@reader.test",
          envelopeFrom: "Bounces@X.test",
          step: "ended",
          outcome: "no_attachment",
          reason: "it has no attachment",
          rawBytes: 1_234,
          creditsCharged: 0,
          customerId: ann
        })
        assert.match(answered?.createdAt ?? "", /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        const [reply, ...more] = answered?.replies ?? []
        assert.lengthOf(more, 0)
        assert.deepInclude(reply, {
          kind: "no-attachment",
          recipient: "ann@reader.test",
          status: "queued",
          error: null
        })
        assert.match(reply?.createdAt ?? "", /Z$/)
        const rest = yield* mails.page({ limit: 2, cursor: nextCursor ?? "" })
        assert.deepStrictEqual(
          rest.rows.map(({ id, outcome, reason, sender }) => [id, outcome, reason, sender]),
          [[forged, "unverified", "DMARC fail", null]]
        )
        assert.isNull(rest.nextCursor)
        assert.strictEqual((yield* Effect.flip(mails.page({ limit: 2, cursor: "x" })))._tag, "InvalidCursor")
        const found = (filter: object) =>
          Effect.map(mails.page({ limit: 9, ...filter }), (page) => page.rows.map(({ id }) => id))
        assert.deepStrictEqual(yield* found({ step: "received" }), [waiting])
        assert.deepStrictEqual(yield* found({ outcome: "unverified" }), [forged])
        assert.deepStrictEqual(yield* found({ sender: "ann@reader.test" }), [asked])
        assert.lengthOf(yield* found({ sender: "bounces@x.test" }), 3)
        assert.deepStrictEqual(
          (yield* mails.ofCustomer(ann, 9)).map(({ id }) => id),
          [asked]
        )
        assert.deepStrictEqual(yield* mails.ofCustomer(anyId(), 9), [])
      })
    )

    it.effect("a mail that waits is due at once, and replies that did not go out are sent again", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        yield* sql.unsafe(
          "update intake_mails set not_before = now() + interval '1 day' where step <> 'ended'"
        )
        const mails = yield* IncomingMails
        const store = yield* IntakeStore
        const id = yield* received("ann@reader.test")
        const mail = yield* claimed()
        assert.strictEqual(mail.id, id)
        const outage = { after: DAY, part: "objects", gap: DAY, limit: DAY, window: DAY } as const
        yield* store.defer(mail, outage)
        assert.isUndefined(yield* store.claim("received", anyId(), DAY, HOME))
        assert.strictEqual((yield* mails.page({ limit: 1 })).rows[0]?.failingPart, "objects")
        assert.strictEqual(yield* mails.retry(id), "retried")
        const again = yield* claimed()
        assert.deepStrictEqual([again.id, again.attempts, again.failures], [id, 1, 0])
        yield* store.end(again, {
          outcome: "no_attachment",
          reason: "r",
          reply: {
            recipient: "ann@reader.test",
            content: { kind: "no-attachment", convertAddress: "c@x.test" }
          }
        })
        assert.strictEqual(yield* mails.retry(id), "ended", "its reply waits")
        yield* sql.unsafe(
          "update intake_replies set not_before = now() + interval '1 day' where mail_id <> $1::uuid",
          [id]
        )
        const reply = (yield* store.claimReply(anyId(), DAY, HOME))!
        yield* store.replyFailed(reply, "refused")
        assert.strictEqual(yield* mails.retry(id), "retried")
        assert.deepInclude(yield* store.claimReply(anyId(), DAY, HOME), { mailId: id, attempts: 1 })
        assert.isUndefined(yield* mails.retry(anyId()))
      })
    )

    it.effect(
      "F1, F2: one that is set aside ends, its funds are free, its worker has lost it, and its customer is answered",
      () =>
        Effect.gen(function* () {
          const sql = yield* WriteSql
          yield* sql.unsafe(
            "update intake_mails set not_before = now() + interval '1 day' where step <> 'ended'"
          )
          const mails = yield* IncomingMails
          const store = yield* IntakeStore
          const carol = yield* customer("carol@reader.test")
          const id = yield* received("carol@reader.test")
          const mail = yield* claimed()
          const admitted = yield* store.admit(mail, {
            customerId: carol,
            filename: "a.pdf",
            fileBytes: 9,
            pages: 3,
            ignored: [],
            sourceKey: "mails/1/source.pdf",
            recipient: "carol@reader.test",
            acknowledgement: { kind: "processing-started", fileName: "a.pdf", pages: 3, ignored: [] },
            window: DAY
          })
          assert.strictEqual(admitted, "admitted")
          const worker = (yield* store.claim("converting", anyId(), DAY, HOME))!
          assert.strictEqual((yield* store.customer("carol@reader.test"))?.balance, 6)
          const options = { reason: "set aside by ann", reply: "It was set aside." }
          assert.strictEqual(yield* mails.setAside(id, options), "set_aside")
          assert.strictEqual((yield* store.customer("carol@reader.test"))?.balance, 9)
          assert.isFalse(yield* store.heartbeat(worker, DAY))
          const [row] = (yield* mails.page({ limit: 1 })).rows
          assert.deepInclude(row, {
            step: "ended",
            outcome: "error",
            reason: "set aside by ann",
            creditsCharged: 0
          })
          assert.deepStrictEqual(
            row?.replies.map(({ kind, recipient }) => [kind, recipient]),
            [
              ["processing-started", "carol@reader.test"],
              ["error", "carol@reader.test"]
            ]
          )
          const jobs = yield* sql.unsafe<{ readonly status: string; readonly error_message: string }>(
            "select status, error_message from conversion_jobs where id = $1::uuid",
            [id]
          )
          assert.deepStrictEqual(jobs, [{ status: "error", error_message: "set aside by ann" }])
          assert.strictEqual(yield* mails.setAside(id, options), "ended")
          assert.isUndefined(yield* mails.setAside(anyId(), options))
        })
    )
  }
)
