/** What the rows of outreach hold beside what its port shows, and what two that write them at once make of each other. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import {
  layer as layerBook,
  layerUnsubscribes
} from "../../../../src/adapters/postgres/outreach/campaign-book.ts"
import type { OutreachEnd } from "../../../../src/ports/outreach/campaign-book.ts"
import { CampaignBook } from "../../../../src/ports/outreach/campaign-book.ts"
import { campaignEvent } from "../../../contracts/outreach/campaign-book.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const clear = empty(
  "prospects, email_sends, email_send_events, unsubscribes, list_unsubscribes, audit_digest_subscriptions, email_log"
)

const entry = { email: "a@x.test", name: "Ann", campaign: "c", subject: "s", idempotencyKey: "k" }
const begun = CampaignBook.use((book) =>
  Effect.map(book.begin(entry), (result) =>
    result._tag === "Begun" ? result.id : assert.fail(`it is ${result._tag}`)
  )
)
const end = (id: string, changes: Partial<OutreachEnd> = {}): OutreachEnd => ({
  id,
  outcome: "sent",
  providerMessageId: "m-1",
  error: null,
  errorKind: null,
  ...changes
})
const logged = (key: string, outcome: string) =>
  WriteSql.use(
    (sql) => sql`insert into email_log (idempotency_key, key_hash, outcome, status, provider)
      values (${key}, encode(sha256(convert_to(${key}, 'UTF8')), 'hex'), ${outcome}, ${outcome}, 'provider_b')`
  )
const rows = WriteSql.use(
  (sql) => sql<{ readonly status: string; readonly message: string | null }>`
    select status, provider_message_id as message from email_sends order by 2`
)

/** Twenty addresses: a hash has them in another order. */
const MANY = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, "0")}@x.test`)
const [FIRST = "", ...OTHERS] = MANY

suiteLayer(Layer.mergeAll(layerBook, layerUnsubscribes).pipe(Layer.provideMerge(layerPostgres)))(
  "rows of outreach",
  (it) => {
    it.effect("say when somebody was last written to: by what went out, or may yet", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const book = yield* CampaignBook
        for (const outcome of ["sent", "deferred", "failed", "suppressed"] as const) {
          yield* clear
          yield* book.finish(end(yield* begun, { outcome, providerMessageId: null }))
          const [row] = yield* sql`select last_contacted_at is not null as contacted from prospects`
          assert.deepStrictEqual(row, { contacted: outcome === "sent" || outcome === "deferred" }, outcome)
        }
      })
    )

    it.effect.each(["unsubscribed", "complained"])(
      "hold who is %s off outreach by the status alone: through an erasure, until it is lifted",
      (status) =>
        Effect.gen(function* () {
          yield* clear
          const sql = yield* WriteSql
          const book = yield* CampaignBook
          yield* sql`insert into prospects (email, status) values ('a@x.test', ${status}), ('b@x.test', ${status})`
          assert.deepStrictEqual(yield* sql`select erase_outreach_person('a@x.test') as found`, [
            { found: true }
          ])
          assert.strictEqual((yield* book.begin(entry))._tag, "Unsubscribed")
          const other = { ...entry, email: "b@x.test", idempotencyKey: "l" }
          assert.strictEqual((yield* book.begin(other))._tag, "Unsubscribed")
          assert.deepStrictEqual(yield* sql`select lift_unsubscribe('b@x.test') as lifted`, [
            { lifted: true }
          ])
          assert.deepStrictEqual(yield* sql`select lift_unsubscribe('b@x.test') as lifted`, [
            { lifted: false }
          ])
          assert.strictEqual((yield* book.begin(other))._tag, "Begun")
        })
    )

    it.effect(
      "keep nothing of an erased person's lists and digests, but by the hash that a list is not for them",
      () =>
        Effect.gen(function* () {
          yield* clear
          const sql = yield* WriteSql
          yield* sql`insert into list_unsubscribes (email, list) values ('a@x.test', 'news'), ('b@x.test', 'news')`
          yield* sql`insert into audit_digest_subscriptions (email) values ('A@x.test'), ('b@x.test')`
          yield* sql`select erase_outreach_person('a@x.test')`
          const kept = yield* sql`select email from list_unsubscribes where email <> erased_alias('a@x.test')
          union all select email from audit_digest_subscriptions`
          assert.deepStrictEqual(kept, [{ email: "b@x.test" }, { email: "b@x.test" }])
        })
    )

    it.effect("are moved by nobody while it is decided whether they begin again", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* WriteSql
        const book = yield* CampaignBook
        yield* begun
        const movable = Effect.map(sql`select from email_sends for update skip locked`, ({ length }) =>
          assert.strictEqual(length, 0)
        )
        yield* whileOpen(sql`lock table email_log in access exclusive mode`, book.begin(entry), movable)
      })
    )

    it.effect("become one where a message's event is just being written", () =>
      Effect.gen(function* () {
        yield* clear
        const book = yield* CampaignBook
        const id = yield* begun
        yield* whileOpen(book.record(campaignEvent({ event: "delivered" })), book.finish(end(id)))
        assert.deepStrictEqual(yield* rows, [{ status: "delivered", message: "m-1" }])
      })
    )

    it.effect("are settled by nobody while an event is being written that says more", () =>
      Effect.gen(function* () {
        yield* clear
        const book = yield* CampaignBook
        const id = yield* begun
        yield* book.finish(end(id, { outcome: "deferred", providerMessageId: null }))
        yield* logged("k", "deferred")
        yield* logged("k", "failed")
        const opened = book.record(campaignEvent({ event: "opened", sendId: id }))
        assert.strictEqual(yield* whileOpen(opened, book.settle), 0)
        assert.deepStrictEqual(yield* rows, [{ status: "opened", message: "m-1" }])
      })
    )

    // By hand: the store would repeat what a deadlock ended.
    const complaint = (affected: ReadonlyArray<string>) =>
      WriteSql.use(
        (sql) =>
          sql`select record_campaign_event(${JSON.stringify({
            provider_message_id: "m-1",
            event: "complained",
            recipients: affected,
            affected
          })}::jsonb)`
      )
    const orders = [
      ["a prospect", "insert into prospects (email) select unnest($1::text[])"],
      ["an unsubscription", "insert into unsubscribes (email, reason) select unnest($1::text[]), 'manual'"]
    ] as const
    it.effect.each(orders)(
      "are written in the order of their addresses, which a complaint about many shares: %s",
      ([, insert]) =>
        Effect.gen(function* () {
          yield* clear
          const sql = yield* WriteSql
          // The complaint waits for the first one; had it written another one before, this one's writer would wait for it in turn.
          yield* whileOpen(sql.unsafe(insert, [[FIRST]]), complaint(MANY), sql.unsafe(insert, [OTHERS]))
          const [row] = yield* sql`select count(*)::int as n from unsubscribes where email = any(${MANY})`
          assert.deepStrictEqual(row, { n: MANY.length })
        })
    )
  }
)
