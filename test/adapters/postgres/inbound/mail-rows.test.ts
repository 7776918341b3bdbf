/** What the rows of mails hold beside what their port shows, and what two that write them at once make of each other. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as Mails from "../../../../src/adapters/postgres/inbound/incoming-mails.ts"
import { layer } from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import type { MailId } from "../../../../src/domain/ids.ts"
import { IncomingMails } from "../../../../src/ports/inbound/incoming-mails.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { clean, customer } from "../../../contracts/conversion/documents-world.ts"
import {
  admitted,
  claim,
  converting,
  emailOf,
  ERROR,
  finish,
  HOME,
  identityOf,
  received,
  taken
} from "../../../contracts/inbound/intake-store/world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const DAY = Duration.days(1)
const ASIDE = { reason: "set aside by ann", reply: "It was set aside." }

/** Twenty names: a hash has them in another order. */
const MANY = Array.from({ length: 20 }, (_, index) => `s${index}`)

suiteLayer(Layer.mergeAll(layer, Mails.layer, Accounts.layer).pipe(Layer.provideMerge(postgres)))(
  "rows of mails",
  (it) => {
    const stepOf = (id: MailId) =>
      WriteSql.use((sql) => sql`select step, outcome from intake_mails where id = ${id}::uuid`)

    it.effect("DOC-6: one that names no object store is worked on wherever a process runs", () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* IntakeStore
        const nowhere = sql`update intake_mails set home = null`
        const owner = yield* customer(10)
        const id = yield* received
        yield* nowhere
        assert.strictEqual((yield* claim("received"))?.id, id)
        const [admittedId] = yield* admitted(owner, 1)
        yield* nowhere
        const mail = (yield* claim("converting"))!
        assert.strictEqual(mail.id, admittedId)
        assert.strictEqual((yield* store.claimReply(anyId(), DAY, HOME))?.mailId, admittedId)
        yield* finish(mail, owner, 1)
        yield* sql`update intake_replies set status = 'sent'`
        assert.deepStrictEqual(yield* store.toClean(9, DAY, HOME), [{ id: mail.id, everything: true }])
      })
    )

    it.effect(
      "H3: a claim moves on the turn of mails and no other, and leaves its transaction's patience",
      () =>
        Effect.gen(function* () {
          yield* clean
          const sql = yield* WriteSql
          const owner = yield* customer(10)
          yield* admitted(owner, 1)
          yield* sql`update work_turns set customer_id = gen_random_uuid()`
          const others = sql`select kind, customer_id from work_turns where kind <> 'mail' order by kind`
          const before = yield* others
          const patience = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`set local lock_timeout = '7s'`
              assert.isDefined(yield* claim("converting"))
              return yield* sql`show lock_timeout`
            })
          )
          assert.deepStrictEqual(patience, [{ lock_timeout: "7s" }])
          assert.deepStrictEqual(yield* others, before)
          assert.deepStrictEqual(
            yield* sql`select customer_id as owner from work_turns where kind = 'mail'`,
            [{ owner }]
          )
        })
    )

    it.effect("INBOUND-7: two mails with many signatures in common do not wait for each other", () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const [one, other] = [yield* taken, yield* taken]
        const hashes = identityOf("one", "a@x.test", MANY).signatures.toSorted()
        // As it is, without another try after a deadlock.
        const identify = ({ id, lease }: typeof one, signatures: ReadonlyArray<string>) =>
          sql`select identify_mail(${id}::uuid, ${lease}::uuid, ${id}, null, 'a@x.test', 's', null, null, 9,
            ${signatures}::text[]) as answer`
        const answer = yield* whileOpen(
          identify(one, hashes.slice(0, 1)),
          identify(other, hashes.toReversed()),
          identify(one, hashes.slice(1))
        )
        assert.deepStrictEqual(answer, [{ answer: "duplicate" }])
      })
    )

    it.effect("are deleted by housekeeping but for those that somebody has locked: it waits for none", () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* IntakeStore
        const [gone, held] = [yield* taken, yield* taken]
        for (const mail of [gone, held]) yield* store.end(mail, ERROR)
        yield* sql`update intake_mails set cleaned = 'all', ended_at = ended_at - interval '91 days'`
        const lock = ({ id }: typeof held) =>
          sql`select from intake_mails where id = ${id}::uuid for no key update`
        // As an erasure does, which locks one after another.
        yield* whileOpen(lock(held), sql`select purge_intake()`, lock(gone))
        assert.deepStrictEqual(yield* sql`select id from intake_mails`, [{ id: held.id }])
      })
    )

    it.effect("strangers' addresses are forgotten two days after their answer", () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        yield* sql`insert into intake_strangers (sender, replied_at)
          select n || '@x.test', now() - make_interval(hours => n) from unnest(array[1, 47, 49]) as n`
        yield* IntakeStore.use((store) => store.purge)
        const left = yield* sql`select sender from intake_strangers order by sender`
        assert.deepStrictEqual(left, [{ sender: "1@x.test" }, { sender: "47@x.test" }])
      })
    )

    it.effect("one that ends meanwhile is neither due again nor set aside", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const mails = yield* IncomingMails
        const owner = yield* customer(10)
        const failed = yield* taken
        assert.strictEqual(yield* whileOpen(store.end(failed, ERROR), mails.retry(failed.id)), "ended")
        const done = yield* converting(owner, 1)
        const aside = mails.setAside(done.id, ASIDE)
        assert.strictEqual(yield* whileOpen(finish(done, owner, 1), aside), "ended")
        assert.deepStrictEqual(yield* stepOf(done.id), [{ step: "ended", outcome: "success" }])
      })
    )

    it.effect("INBOUND-10: a conversion that never began is not logged when its mail is set aside", () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const mails = yield* IncomingMails
        const id = yield* received
        assert.strictEqual(yield* mails.setAside(id, ASIDE), "set_aside")
        assert.deepStrictEqual(yield* sql`select from conversion_jobs`, [])
      })
    )

    const kinds = ["processing-started", "success", "error"]
    const sentAgain: ReadonlyArray<readonly [cleaned: string | null, queued: Array<string>]> = [
      [null, ["error", "success"]],
      ["source", ["error", "success"]],
      ["all", ["error"]]
    ]
    it.effect.each(sentAgain)(
      "replies that failed are sent again, a result's while it is there, an acknowledgement never: cleaned %s",
      ([cleaned, expected]) =>
        Effect.gen(function* () {
          yield* clean
          const sql = yield* WriteSql
          const mails = yield* IncomingMails
          const owner = yield* customer(10)
          const mail = yield* converting(owner, 1)
          yield* finish(mail, owner, 1)
          yield* sql`delete from intake_replies`
          yield* sql`insert into intake_replies (mail_id, kind, recipient, content, status)
            select ${mail.id}::uuid, kind, ${emailOf(owner)}, '{}', 'failed' from unnest(${kinds}::text[]) as kind`
          yield* sql`update intake_mails set cleaned = ${cleaned}`
          assert.strictEqual(yield* mails.retry(mail.id), "retried")
          const queued = yield* sql<{ readonly kind: string }>`
            select kind from intake_replies where status = 'queued' order by kind`
          assert.deepStrictEqual(
            queued.map(({ kind }) => kind),
            expected
          )
        })
    )
  }
)
