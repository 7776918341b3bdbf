import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import {
  layer as layerBook,
  layerUnsubscribes
} from "../../../../src/adapters/postgres/outreach/campaign-book.ts"
import { SendStatus } from "../../../../src/domain/mail/send-result.ts"
import {
  CAMPAIGN_EVENTS,
  CAMPAIGN_SEND_STATUSES,
  furtherProspect,
  furtherSend,
  isOffLimits,
  PROSPECT_STATUSES
} from "../../../../src/domain/outreach/campaign-status.ts"
import { CampaignBook, Unsubscribes } from "../../../../src/ports/outreach/campaign-book.ts"
import {
  campaignEvent,
  type CampaignTables,
  type CampaignWorld,
  suite
} from "../../../contracts/outreach/campaign-book.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const scope = Scope.makeUnsafe()
let context: Context.Context<CampaignBook | Unsubscribes | WriteSql>
let world: CampaignWorld

const Status = Schema.Literals(CAMPAIGN_SEND_STATUSES)
const Time = Schema.NullOr(Schema.Number)
const Sends = Schema.Array(
  Schema.Struct({
    email: Schema.NullOr(Schema.String),
    campaign: Schema.NullOr(Schema.String),
    providerMessageId: Schema.NullOr(Schema.String),
    status: Status,
    opens: Schema.Int,
    clicks: Schema.Int,
    openedAt: Time,
    clickedAt: Time,
    bouncedAt: Time,
    complainedAt: Time
  })
)
const Prospects = Schema.Array(
  Schema.Struct({ email: Schema.String, status: Schema.Literals(PROSPECT_STATUSES) })
)
const Unsubscribed = Schema.Array(Schema.Struct({ email: Schema.String, reason: Schema.String }))

const ms = (column: string) =>
  `(extract(epoch from s.${column}) * 1000)::float8 as "${column.replace("_at", "At")}"`

const makeWorld = (sql: WriteSql["Service"]): CampaignWorld => ({
  clear: Effect.orDie(
    Effect.provideService(
      empty("prospects, email_sends, email_send_events, unsubscribes, email_log"),
      WriteSql,
      sql
    )
  ),
  deferral: (key, end) =>
    sql`insert into email_log (idempotency_key, key_hash, outcome, status, provider, provider_message_id)
      values (${key}, encode(sha256(convert_to(${key}, 'UTF8')), 'hex'), ${end}, ${end}, 'provider_b',
        ${end === "sent" ? `log-${key}` : null})`.pipe(Effect.asVoid, Effect.orDie),
  resubscribe: (email) =>
    Effect.all(
      [
        sql`delete from unsubscribes where email = ${email}`,
        sql`update prospects set status = 'active' where email = ${email}`
      ],
      { discard: true }
    ).pipe(Effect.orDie),
  tables: Effect.gen(function* (): Effect.fn.Return<CampaignTables, unknown> {
    const sends = yield* sql.unsafe(
      `select p.email, s.campaign, s.provider_message_id as "providerMessageId", s.status, s.open_count as opens,
        s.click_count as clicks, ${["opened_at", "clicked_at", "bounced_at", "complained_at"].map(ms).join(", ")}
      from email_sends s left join prospects p on p.id = s.prospect_id order by s.provider_message_id nulls first`
    )
    const prospects = yield* sql`select email, status from prospects order by email`
    const unsubscribed = yield* sql`select email, reason from unsubscribes order by email`
    const byEmail = <A>(rows: ReadonlyArray<{ readonly email: string }>, value: (index: number) => A) =>
      Object.fromEntries(rows.map(({ email }, index) => [email, value(index)]))
    const known = yield* Schema.decodeUnknownEffect(Prospects)(prospects)
    const off = yield* Schema.decodeUnknownEffect(Unsubscribed)(unsubscribed)
    return {
      sends: yield* Schema.decodeUnknownEffect(Sends)(sends),
      prospects: byEmail(known, (index) => known[index]!.status),
      unsubscribed: byEmail(off, (index) => off[index]!.reason)
    }
  }).pipe(Effect.orDie)
})

beforeAll(async () => {
  const services = Layer.mergeAll(layerBook, layerUnsubscribes).pipe(Layer.provideMerge(layerPostgres))
  context = await Effect.runPromise(Layer.buildWithScope(services, scope))
  world = makeWorld(Context.get(context, WriteSql))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

suite("PostgreSQL", 40, (body) => Effect.suspend(() => Effect.provideContext(body(world), context)))

describe("campaigns on PostgreSQL", () => {
  const live = (title: string, body: Effect.Effect<void, unknown, CampaignBook | Unsubscribes | WriteSql>) =>
    it.live(title, () => Effect.suspend(() => Effect.provideContext(body, context)))

  live(
    "rank statuses as the core does",
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const order = (name: "campaign_send_rank" | "prospect_rank", statuses: ReadonlyArray<string>) =>
        Effect.map(
          sql.unsafe<{ readonly rank: number }>(
            `select ${name}(x) as rank from unnest($1::text[]) with ordinality as t(x, i) order by i`,
            [[...statuses, "unknown"]]
          ),
          (rows) => rows.map(({ rank }) => rank)
        )
      const ranks = (statuses: ReadonlyArray<string>) => [...statuses.map((_, index) => index + 1), null]
      assert.deepStrictEqual(
        yield* order("campaign_send_rank", CAMPAIGN_SEND_STATUSES),
        ranks(CAMPAIGN_SEND_STATUSES)
      )
      assert.deepStrictEqual(yield* order("prospect_rank", PROSPECT_STATUSES), ranks(PROSPECT_STATUSES))
    })
  )

  live(
    "move a send of every status by every event and every outcome as furtherSend says",
    Effect.gen(function* () {
      yield* world.clear
      const book = yield* CampaignBook
      const sql = yield* WriteSql
      const cases = CAMPAIGN_SEND_STATUSES.flatMap((status) => [
        ...[...CAMPAIGN_EVENTS, "bounce_transient"].map((event) => ({ status, event, outcome: undefined })),
        ...SendStatus.literals.map((outcome) => ({ status, event: undefined, outcome }))
      ]).map((one) => ({ ...one, id: crypto.randomUUID() }))
      yield* sql.unsafe(
        `insert into email_sends (id, status, provider_message_id, idempotency_key)
         select x.id, x.status, case when x.by_event then x.id::text end, x.id::text
         from unnest($1::uuid[], $2::text[], $3::boolean[]) as x(id, status, by_event)`,
        [
          cases.map(({ id }) => id),
          cases.map(({ status }) => status),
          cases.map(({ event }) => event !== undefined)
        ]
      )
      yield* Effect.forEach(cases, ({ event, id, outcome }) =>
        outcome === undefined
          ? book.record(campaignEvent({ event, providerMessageId: id }))
          : book.finish({ id, outcome, providerMessageId: null, error: null, errorKind: null })
      )
      const rows = yield* sql<{
        readonly id: string
        readonly status: string
      }>`select id, status from email_sends`
      const reached = new Map(rows.map(({ id, status }) => [id, status]))
      for (const { event, id, outcome, status } of cases) {
        const asked = outcome ?? CAMPAIGN_EVENTS.find((name) => name === event)
        const expected = asked === undefined ? status : furtherSend(status, asked)
        assert.strictEqual(reached.get(id), expected, `${event ?? outcome} on ${status}`)
      }
    })
  )

  live(
    "move a prospect of every status as furtherProspect says, and mail none that isOffLimits names",
    Effect.gen(function* () {
      yield* world.clear
      const book = yield* CampaignBook
      const unsubscribes = yield* Unsubscribes
      const sql = yield* WriteSql
      const cases = PROSPECT_STATUSES.flatMap((status) =>
        PROSPECT_STATUSES.map((next) => ({ status, next, email: `${status}-${next}@x.test` }))
      )
      yield* sql.unsafe(
        "insert into prospects (email, status) select x.email, x.status from unnest($1::text[], $2::text[]) as x(email, status)",
        [cases.map(({ email }) => email), cases.map(({ status }) => status)]
      )
      yield* Effect.forEach(cases, ({ email, next, status }) =>
        Effect.gen(function* () {
          if (next === "unsubscribed") return yield* unsubscribes.add({ email, campaign: "c" })
          if (next !== "active") {
            const event = { event: next, providerMessageId: email, recipients: [email], affected: [email] }
            return yield* book.record(campaignEvent(event))
          }
          const entry = { email, name: undefined, campaign: "c", subject: "s", idempotencyKey: email }
          assert.strictEqual((yield* book.begin(entry))._tag === "Unsubscribed", isOffLimits(status), email)
        })
      )
      const { prospects } = yield* world.tables
      assert.deepStrictEqual(
        prospects,
        Object.fromEntries(cases.map(({ email, next, status }) => [email, furtherProspect(status, next)]))
      )
    })
  )

  live(
    "keep one random key of 32 bytes for the links",
    Effect.gen(function* () {
      const unsubscribes = yield* Unsubscribes
      const sql = yield* WriteSql
      const [one, two] = yield* Effect.all([unsubscribes.key, unsubscribes.key])
      assert.lengthOf(Redacted.value(one), 32)
      assert.deepStrictEqual(Redacted.value(one), Redacted.value(two))
      assert.notInclude(JSON.stringify(one), String(Redacted.value(one)[0]))
      assert.isAbove(new Set(Redacted.value(one)).size, 10)
      yield* Effect.flip(
        sql`insert into unsubscribe_keys (id, key) values (2, decode(repeat('00', 32), 'hex'))`
      )
    })
  )

  live(
    "note when a prospect was last contacted, and take text that Postgres does not",
    Effect.gen(function* () {
      yield* world.clear
      const book = yield* CampaignBook
      const sql = yield* WriteSql
      yield* book.record(campaignEvent({ occurredAt: Date.parse("2026-01-05T00:00:00Z") }))
      yield* book.record(campaignEvent({ providerMessageId: "m-2", subject: "NUL \0 half \ud800" }))
      const rows = yield* sql`select email, last_contacted_at::date::text as day from prospects`
      assert.deepStrictEqual([...rows], [{ email: "a@x.test", day: "2026-01-05" }])
    })
  )

  live(
    "do not begin a mail again whose end is unknown for longer than its key is",
    Effect.gen(function* () {
      yield* world.clear
      const book = yield* CampaignBook
      const sql = yield* WriteSql
      const entry = { email: "a@x.test", name: "Ann", campaign: "c", subject: "s", idempotencyKey: "k" }
      yield* book.begin(entry)
      yield* sql`update email_sends set attempted_at = attempted_at - interval '23 hours 59 minutes'`
      assert.strictEqual((yield* book.begin(entry))._tag, "Begun")
      const { id } = (yield* sql<{ readonly id: string }>`update email_sends
        set attempted_at = attempted_at - interval '2 minutes' returning id`)[0]!
      assert.strictEqual((yield* book.begin(entry))._tag, "Settled")
      for (const errorKind of ["unavailable", "rejected", "ambiguous"] as const) {
        yield* book.finish({ id, outcome: "failed", providerMessageId: null, error: "e", errorKind })
        yield* sql`update email_sends set attempted_at = now() - interval '25 hours'`
        assert.strictEqual(
          (yield* book.begin(entry))._tag,
          errorKind === "ambiguous" ? "Settled" : "Begun",
          errorKind
        )
      }

      // Nobody wrote down that it was deferred; the log knows that no mail came of that, and then whether another one did.
      yield* world.deferral("k", "deferred")
      yield* world.deferral("k", "failed")
      yield* world.deferral("k/2", "deferred")
      assert.strictEqual((yield* book.begin(entry))._tag, "Settled")
      yield* world.deferral("k/2", "failed")
      assert.deepInclude(yield* book.begin(entry), { _tag: "Begun", mailKey: "k/3" })
    })
  )

  live(
    "forget an erased person, who gets no outreach afterwards either",
    Effect.gen(function* () {
      yield* world.clear
      const book = yield* CampaignBook
      const unsubscribes = yield* Unsubscribes
      const sql = yield* WriteSql
      const erase = Effect.map(
        sql`select erase_outreach_person('a@x.test') as found`,
        (rows) => rows[0]!["found"]
      )
      const entry = { email: "a@x.test", name: "Ann", campaign: "c", subject: "s", idempotencyKey: "k" }
      yield* book.begin(entry)
      yield* unsubscribes.add({ email: "a@x.test", campaign: "c" })
      assert.isTrue(yield* erase)
      assert.isFalse(yield* erase)
      const rows = yield* sql`select to_jsonb(p)::text as row from prospects p
        union all select to_jsonb(u)::text from unsubscribes u union all select to_jsonb(s)::text from email_sends s`
      assert.lengthOf(rows, 2)
      for (const { row } of rows) assert.notInclude(String(row), "a@x.test")
      assert.strictEqual((yield* book.begin(entry))._tag, "Unsubscribed")
      assert.strictEqual(
        (yield* book.begin({ ...entry, email: "b@x.test", idempotencyKey: "l" }))._tag,
        "Begun"
      )
    })
  )

  live(
    "are no table that anybody but the service role reads",
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const rows = yield* sql`select relname, relrowsecurity from pg_class
        where relname in ('prospects', 'email_sends', 'email_send_events', 'unsubscribes', 'unsubscribe_keys',
          'audit_digest_subscriptions', 'audit_digest_deliveries') and not relrowsecurity`
      assert.deepStrictEqual([...rows], [])
    })
  )
})
