import { assert, layer as suiteLayer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { call } from "./hook-rows.ts"

const TAG = "t".repeat(64)
const SECRET = "whsec_cG9zdGxhbmUtaG9vay1zZWNyZXQtMS0zMi1ieXRlcyE="

interface Told {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly state: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> }
  readonly waits: boolean
  readonly message: string
}

const hook = (types: ReadonlyArray<string> = ["*"], offBy: string | null = null) =>
  WriteSql.use(
    (sql) => sql`insert into event_hooks (url, types, secret, off_by)
    values ('https://shop.test/hooks', ${types}, ${SECRET}, ${offBy})`
  )

const told = WriteSql.use(
  (
    sql
  ) => sql<Told>`select id, type, subject, state, body::jsonb as body, next_at > clock_timestamp() as waits, message_id as message
    from event_hook_deliveries order by sequence`
)

const send = (message: string, entry: object = {}) =>
  sendEntry({
    provider_message_id: message,
    idempotency_key: `order-${message}`,
    key_tag: TAG,
    tags: { order: "17" },
    ...entry
  })

const event = (message: string, name: string, entry: object = {}) => ({
  provider: "provider_a",
  provider_message_id: message,
  event: name,
  occurred_at: "2026-11-28T10:00:00Z",
  recipients: ["ann@x.test"],
  ...entry
})

const clear = empty(
  "event_hooks, email_log, email_events, email_suppressions, unsubscribes, list_unsubscribes, erased_suppressions, customers"
)
const inDatabase = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.andThen(clear, test)

suiteLayer(layerPostgres)(
  "events for hooks, written in the transaction that records them (EVENT-80)",
  (it) => {
    it.effect("a mail's end and its events, also one that moves no status, each once", () =>
      Effect.gen(function* () {
        yield* hook()
        yield* call("record_email_sends", send("m-1"))
        yield* call(
          "record_email_events",
          event("m-1", "opened"),
          event("m-1", "delivered", { occurred_at: "2026-11-28T09:59:00Z" })
        )
        yield* call("record_email_events", event("m-1", "opened"))
        yield* call("record_email_events", event("m-1", "bounce_transient", { reason: "mailbox full" }))
        yield* call("record_email_events", event("m-1", "sent"))
        yield* call("record_email_events", event("m-1", "complained"))
        yield* call("record_email_events", event("m-1", "clicked"))
        const rows = yield* told
        assert.deepStrictEqual(
          rows.map(({ body, type }) => [type, body.data["status"]]),
          [
            ["email.sent", "sent"],
            ["email.opened", "opened"],
            ["email.delivered", "opened"],
            ["email.bounced", "opened"],
            ["suppression.added", undefined],
            ["email.complained", "complained"],
            ["email.clicked", "complained"]
          ]
        )
        const { body, message } = rows[3]!
        assert.match(message, /^msg_[0-9a-f]{32}$/)
        assert.strictEqual(body.timestamp, "2026-11-28T10:00:00.000Z")
        const { sendId, ...data } = body.data
        assert.isString(sendId)
        assert.deepStrictEqual(data, {
          queueId: null,
          idempotencyKey: "order-m-1",
          category: "transactional",
          source: "api:shop",
          to: ["ann@x.test"],
          status: "opened",
          reason: "mailbox full",
          provider: "provider_a",
          providerMessageId: "m-1",
          tags: { order: "17" },
          occurredAt: "2026-11-28T10:00:00.000Z",
          permanent: false
        })
      }).pipe(inDatabase)
    )

    it.effect("each way in which a send ends, and a deferral whose acceptance an event proves", () =>
      Effect.gen(function* () {
        yield* hook(["email.*"])
        const deferred = send("", { outcome: "deferred", provider_message_id: null, idempotency_key: "k-1" })
        yield* call(
          "record_email_sends",
          deferred,
          send("", {
            outcome: "failed",
            provider_message_id: null,
            error: "no",
            error_kind: "rejected",
            key_tag: null,
            idempotency_key: "k-2"
          }),
          send("", {
            outcome: "suppressed",
            provider: null,
            provider_message_id: null,
            key_tag: null,
            idempotency_key: "k-3"
          })
        )
        yield* call("record_email_sends", deferred)
        yield* call("record_email_events", event("m-9", "delivered", { key_tag: TAG }))
        const rows = yield* told
        assert.deepStrictEqual(rows.map(({ type }) => type).toSorted(), [
          "email.deferred",
          "email.delivered",
          "email.failed",
          "email.sent",
          "email.suppressed"
        ])
        assert.deepStrictEqual(
          rows.slice(-2).map(({ type }) => type),
          ["email.sent", "email.delivered"]
        )
        assert.isFalse(rows.some(({ waits }) => waits))
        assert.lengthOf(
          new Set(
            rows.filter(({ body }) => body.data["idempotencyKey"] === "k-1").map(({ subject }) => subject)
          ),
          1
        )
        assert.strictEqual(rows.find(({ type }) => type === "email.failed")!.body.data["reason"], "no")
      }).pipe(inDatabase)
    )

    it.effect(
      "an event that comes before the library's row waits for it, follows it, and gets what it knows",
      () =>
        Effect.gen(function* () {
          yield* hook()
          yield* call(
            "record_email_events",
            event("m-1", "sent", { key_tag: TAG }),
            event("m-1", "delivered", { key_tag: TAG })
          )
          const before = yield* told
          assert.deepStrictEqual(
            before.map(({ type, waits }) => [type, waits]),
            [
              ["email.sent", true],
              ["email.delivered", true]
            ]
          )
          yield* call("record_email_sends", send("m-1"))
          const after = yield* told
          assert.deepStrictEqual(
            after.map(({ body, type, waits }) => [
              type,
              waits,
              body.data["idempotencyKey"],
              body.data["status"],
              body.data["category"]
            ]),
            [
              ["email.sent", false, "order-m-1", "delivered", "transactional"],
              ["email.delivered", false, "order-m-1", "delivered", "transactional"]
            ]
          )
          assert.strictEqual(after[1]!.body.data["occurredAt"], "2026-11-28T10:00:00.000Z")
          assert.strictEqual(after[1]!.subject, after[0]!.subject)
        }).pipe(inDatabase)
    )

    it.effect("what the poll lists goes out where no webhook brought it", () =>
      Effect.gen(function* () {
        yield* hook()
        yield* call("record_email_sends", send("m-1"), send("m-2"))
        yield* call("record_email_events", event("m-1", "delivered"))
        yield* call(
          "record_email_events",
          event("m-1", "delivered", { listed: true }),
          event("m-2", "delivered", { listed: true })
        )
        const rows = yield* told
        assert.deepStrictEqual(
          rows
            .filter(({ type }) => type === "email.delivered")
            .map(({ body }) => body.data["providerMessageId"]),
          ["m-1", "m-2"]
        )
      }).pipe(inDatabase)
    )

    it.effect("suppressions that were added and removed, and people who unsubscribed", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        yield* hook(["suppression.*"])
        yield* sql`insert into email_suppressions (email, reason) values ('ann@x.test', 'manual')`
        yield* sql`insert into email_suppressions (email, reason) values ('ann@x.test', 'manual') on conflict do nothing`
        yield* sql`delete from email_suppressions`
        yield* sql`select record_unsubscribe('bob@x.test', 'spring')`
        yield* sql`select lift_unsubscribe('bob@x.test')`
        yield* sql`insert into list_unsubscribes (email, list) values ('cid@x.test', 'weekly')`
        yield* sql`delete from list_unsubscribes`
        const rows = yield* told
        assert.deepStrictEqual(
          rows.map(({ body, type }) => [type, body.data["email"], body.data["reason"], body.data["list"]]),
          [
            ["suppression.added", "ann@x.test", "manual", undefined],
            ["suppression.removed", "ann@x.test", "manual", undefined],
            ["suppression.added", "bob@x.test", "unsubscribed", undefined],
            ["suppression.removed", "bob@x.test", "unsubscribed", undefined],
            ["suppression.added", "cid@x.test", "unsubscribed", "weekly"],
            ["suppression.removed", "cid@x.test", "unsubscribed", "weekly"]
          ]
        )
      }).pipe(inDatabase)
    )

    it.effect("nothing of an erased person, and what is still to be sent names them no more (P3)", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        yield* hook()
        yield* call("record_email_sends", send("m-1", { to: ["ann@x.test", "bob@x.test"] }))
        yield* call(
          "record_email_events",
          event("m-1", "bounced", {
            reason: "no ann@x.test here",
            bounce_type: "Permanent",
            suppress: ["ann@x.test"]
          })
        )
        yield* sql`insert into unsubscribes (email) values ('ann@x.test')`
        yield* sql`select erase_person('ann@x.test', 'admin')`
        const rows = yield* told
        assert.deepStrictEqual(
          rows.map(({ type }) => type),
          ["email.sent", "email.bounced"]
        )
        assert.notInclude(JSON.stringify(rows), "ann@x.test")
        assert.deepInclude(rows[1]!.body.data["to"], "bob@x.test")
      }).pipe(inDatabase)
    )

    it.effect("a hook that a person switched off gets nothing, one that is off by itself dead events", () =>
      Effect.gen(function* () {
        yield* hook(["*"], "person")
        yield* call("record_email_sends", send("m-1"))
        assert.deepStrictEqual(yield* told, [])
        yield* hook(["email.delivered"], "itself")
        yield* call("record_email_events", event("m-1", "delivered"), event("m-1", "opened"))
        assert.deepStrictEqual(
          (yield* told).map(({ state, type }) => [type, state]),
          [["email.delivered", "dead"]]
        )
      }).pipe(inDatabase)
    )

    it.effect(
      "nothing that is rolled back; and of two rows of one key the later event becomes visible later",
      () =>
        Effect.gen(function* () {
          const sql = yield* WriteSql
          yield* hook()
          const written = yield* Deferred.make<void>()
          const letGo = yield* Deferred.make<void>()
          const first = yield* Effect.forkChild(
            sql
              .withTransaction(
                Effect.gen(function* () {
                  yield* call("record_email_sends", send("m-1", { idempotency_key: "k" }))
                  yield* Deferred.succeed(written, undefined)
                  yield* Deferred.await(letGo)
                  return yield* Effect.fail("rolled back")
                })
              )
              .pipe(Effect.exit)
          )
          yield* Deferred.await(written)
          const second = yield* Effect.forkChild(
            call("record_email_sends", send("m-2", { idempotency_key: "k" }))
          )
          yield* sql<{ readonly n: number }>`select count(*)::integer as n from pg_stat_activity
        where datname = current_database() and wait_event = 'advisory'`.pipe(
            Effect.repeat({ until: ([row]) => row?.n === 1 })
          )
          yield* Deferred.succeed(letGo, undefined)
          yield* Fiber.await(first)
          yield* Fiber.join(second)
          assert.deepStrictEqual(
            (yield* told).map(({ body }) => body.data["providerMessageId"]),
            ["m-2"]
          )
        }).pipe(inDatabase)
    )

    it.effect(
      "conversions that ended: of a job, of a document that is converted in one piece, of a flyer",
      () =>
        Effect.gen(function* () {
          const sql = yield* WriteSql
          yield* hook(["conversion.*"])
          const [customer] = yield* sql<{
            readonly id: string
          }>`insert into customers (email) values ('ann@x.test') returning id`
          const file = (kind: string) =>
            sql<{
              readonly id: string
            }>`insert into files (customer_id, name, kind, size_bytes, pages, object_key, status, job_id)
          values (${customer!.id}, 'a', ${kind}, 1, 3, 'o', ${kind === "pdf" ? "uploaded" : "processing"}, gen_random_uuid()) returning id`.pipe(
              Effect.map(([row]) => row!.id)
            )
          const pdf = yield* file("pdf")
          const [job] = yield* sql<{
            readonly id: string
          }>`insert into large_conversion_jobs (file_id, customer_id, status)
        values (${pdf}, ${customer!.id}, 'assembling') returning id`
          yield* sql`insert into credit_charges (job_id, customer_id, credits) values (${job!.id}, ${customer!.id}, 3)`
          yield* sql`update large_conversion_jobs set status = 'completed'`
          yield* file("docx")
          yield* sql`update files set status = 'failed', error = 'not readable' where kind = 'docx'`
          yield* sql`insert into flyer_jobs (file_id, customer_id, status) values (${pdf}, ${customer!.id}, 'processing')`
          yield* sql`update flyer_jobs set status = 'completed'`
          const rows = yield* told
          assert.deepStrictEqual(
            rows.map(({ body, type }) => [
              type,
              body.data["status"],
              body.data["pages"],
              body.data["credits"],
              body.data["error"]
            ]),
            [
              ["conversion.completed", "completed", 3, 3, null],
              ["conversion.failed", "failed", 3, 0, "not readable"],
              ["conversion.completed", "completed", 3, 0, null]
            ]
          )
          assert.deepStrictEqual(rows[0]!.body.data["fileId"], pdf)
          assert.deepStrictEqual(rows[0]!.body.data["jobId"], job!.id)
        }).pipe(inDatabase)
    )
  }
)
