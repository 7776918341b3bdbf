import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as fc from "fast-check"

import { ReadSql, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/delivery-log.ts"
import { sweepAlerts, Alerts } from "../../../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../../../src/application/delivery/event-recording.ts"
import type { DeliveryEvent } from "../../../../src/domain/delivery/delivery-event.ts"
import { DeliveryLog } from "../../../../src/ports/delivery/delivery-log.ts"
import { deliveryEvent, suite } from "../../../contracts/delivery/delivery-log.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const layerLog = layer.pipe(Layer.provideMerge(layerPostgres))

const letAlertsAge = (time: Duration.Input) =>
  WriteSql.use(
    (sql) =>
      sql`update email_alerts set due_at = due_at - ${Duration.toMillis(time)} * interval '1 millisecond'`
  ).pipe(Effect.orDie)

suite("PostgreSQL", Layer.fresh(layerLog), letAlertsAge)

describe("sweeps on PostgreSQL", () => {
  it.live("sixteen at once raise each alert that is due once (A1)", () =>
    Effect.gen(function* () {
      const log = yield* DeliveryLog
      const ids = yield* Effect.forEach(Array.from({ length: 40 }), (_, index) =>
        Effect.map(log.record(deliveryEvent({ providerMessageId: `m-${index}` })), ({ sendId }) => sendId)
      )
      yield* letAlertsAge("1 hour")
      const raised: Array<string> = []
      const alerts = Layer.mock(Alerts, {
        raise: ({ sendId }) =>
          Effect.sync(() => {
            raised.push(sendId)
            return { delivery: "delivered", escalated: undefined } as const
          })
      })
      yield* Effect.forEach(Array.from({ length: 16 }), () => sweepAlerts, {
        concurrency: "unbounded"
      }).pipe(Effect.provide(alerts))
      // A sweep skips what another one holds at that moment.
      yield* Effect.provide(sweepAlerts, alerts)
      assert.deepStrictEqual(raised.toSorted(), ids.toSorted())
    }).pipe(Effect.provide(Layer.fresh(layerLog)))
  )

  it.live("a sweep says what kind of mail the alert is about, and where it came from", () =>
    Effect.gen(function* () {
      const log = yield* DeliveryLog
      yield* WriteSql.use(
        (sql) => sql`insert into email_log (category, source, status, outcome, provider, provider_message_id)
          values ('notification', 'api:receipts', 'sent', 'sent', 'provider_a', 'm-1')`
      )
      const recorded = yield* log.record(deliveryEvent())
      assert.deepInclude(recorded, { category: "notification", source: "api:receipts" })
      yield* letAlertsAge("1 hour")
      assert.deepInclude(yield* log.claimDueAlert, { category: "notification", source: "api:receipts" })
    }).pipe(Effect.provide(Layer.fresh(layerLog)))
  )

  it.live("an event and a sweep that come together raise a released alert once (A1)", () =>
    Effect.gen(function* () {
      const log = yield* DeliveryLog
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => deliveryEvent({ providerMessageId: `m-${index}` })),
        Effect.fnUntraced(function* (event) {
          const { sendId } = yield* log.record(event)
          yield* log.releaseAlert(sendId)
          yield* letAlertsAge("2 minutes")
          const [byEvents, bySweeps] = yield* Effect.all(
            [
              Effect.all([log.record(event), log.record(event)], { concurrency: "unbounded" }),
              Effect.all([log.claimDueAlert, log.claimDueAlert], { concurrency: "unbounded" })
            ],
            { concurrency: "unbounded" }
          )
          const raised = byEvents.filter(({ alert }) => alert).length + bySweeps.filter(Boolean).length
          assert.strictEqual(raised, 1)
          yield* log.confirmAlert(sendId)
        })
      )
    }).pipe(Effect.provide(Layer.fresh(layerLog)))
  )

  it.live("an alert about a mail whose row is gone is dropped once it is due, and no other", () =>
    Effect.gen(function* () {
      const log = yield* DeliveryLog
      const sql = yield* WriteSql
      const gone = yield* log.record(deliveryEvent({ providerMessageId: "gone" }))
      const kept = yield* log.record(deliveryEvent({ providerMessageId: "kept" }))
      yield* sql`delete from email_log where id = ${gone.sendId}::uuid`
      assert.isUndefined(yield* log.claimDueAlert)
      const left = Effect.map(
        sql<{
          readonly id: string
        }>`select send_id as id from email_alerts order by send_id = ${kept.sendId}::uuid`,
        (rows) => rows.map(({ id }) => id)
      )
      assert.deepStrictEqual(yield* left, [gone.sendId, kept.sendId])
      yield* letAlertsAge("1 hour")
      assert.strictEqual((yield* log.claimDueAlert)?.sendId, kept.sendId)
      assert.deepStrictEqual(yield* left, [kept.sendId])
    }).pipe(Effect.provide(Layer.fresh(layerLog)))
  )

  it.live("a claim that is confirmed keeps no address", () =>
    Effect.gen(function* () {
      const log = yield* DeliveryLog
      const sql = yield* ReadSql
      const { sendId } = yield* log.record(deliveryEvent())
      yield* log.confirmAlert(sendId)
      assert.deepStrictEqual(yield* sql`select details, attempts from email_alerts`, [
        { details: {}, attempts: 1 }
      ])
    }).pipe(Effect.provide(Layer.fresh(layerLog)))
  )
})

const history = (provider: DeliveryEvent["provider"], providerMessageId: string) =>
  (["sent", "delivery_delayed", "delivered", "opened", "bounced"] as const).map((event, index) =>
    deliveryEvent({
      provider,
      providerMessageId,
      event,
      occurredAt: Date.parse("2026-01-02T03:04:05Z") + index * 1000,
      recipients: [`${provider}-${providerMessageId}@inbox.test`],
      bounceType: event === "bounced" ? "Permanent" : undefined,
      reason: event === "bounced" ? "Permanent/General" : undefined
    })
  )

describe("delivery events on PostgreSQL", () => {
  it.live(
    "end in the in-order row with one alert, each kept once, however they come (L2, L3, A1, EVENT-15)",
    () => {
      const alerted: Array<string> = []
      const alerts = Layer.mock(Alerts, {
        raise: ({ providerMessageId }) =>
          Effect.sync(() => {
            alerted.push(providerMessageId)
            return { delivery: "delivered", escalated: undefined } as const
          })
      })
      return Effect.gen(function* () {
        const sql = yield* ReadSql
        const recording = yield* EventRecording.EventRecording
        const ids = Array.from({ length: 40 }, (_, index) => `m-${index}`)
        const providerOf = (index: number) => (index % 2 === 0 ? "provider_a" : "provider_b")
        const events = ids.flatMap((id, index) => history(providerOf(index), id))
        const [shuffled] = fc.sample(
          fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
          1
        )
        yield* Effect.forEach(shuffled!, (event) => recording.record(event), { concurrency: 100 })
        const rows = yield* sql`select distinct status, last_event, error, alerted_at is not null as claimed
        from email_log`
        assert.deepStrictEqual(rows, [
          { status: "bounced", last_event: "bounced", error: "Permanent/General", claimed: true }
        ])
        const counts = yield* sql`select (select count(*) from email_log)::int as rows,
        (select count(*) from email_suppressions where reason = 'hard_bounce')::int as suppressed,
        (select count(*) from email_events)::int as kept`
        assert.deepStrictEqual(counts, [{ rows: 40, suppressed: 40, kept: events.length }])
        assert.deepStrictEqual([...alerted].sort(), [...ids].sort())
      }).pipe(Effect.provide(EventRecording.layer.pipe(Layer.provide(alerts), Layer.provideMerge(layerLog))))
    }
  )

  it.live("of one mail in one call change its row once, and are kept in their order (L2, EVENT-15)", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const event = (id: string, name: string) => ({
        provider: "provider_a",
        provider_message_id: id,
        event: name,
        occurred_at: "2026-01-01T00:00:00Z"
      })
      const record = (...events: ReadonlyArray<object>) =>
        sql`select status from record_email_events(${JSON.stringify(events)}::jsonb)`
      yield* record(event("old", "sent"))
      const statuses = yield* record(
        event("old", "opened"),
        event("new", "sent"),
        event("old", "delivered"),
        event("new", "delivered"),
        event("old", "opened")
      )
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        ["sent", "delivered", "opened", "opened", "opened"]
      )
      const kept =
        yield* sql`select l.provider_message_id as id, l.status, array_agg(e.event order by e.number) as events
        from email_log l join email_events e on e.send_id = l.id group by l.id order by id`
      assert.deepStrictEqual(kept, [
        { id: "new", status: "delivered", events: ["sent", "delivered"] },
        { id: "old", status: "opened", events: ["sent", "opened", "delivered"] }
      ])
    }).pipe(Effect.provide(Layer.fresh(layerLog)))
  )
})
