import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import { ReadSql } from "../../../src/adapters/postgres/client.ts"
import { layer } from "../../../src/adapters/postgres/delivery-log.ts"
import { Alerts } from "../../../src/domain/delivery/alerts.ts"
import type { DeliveryEvent } from "../../../src/domain/delivery/delivery-event.ts"
import * as EventRecording from "../../../src/domain/delivery/event-recording.ts"
import { deliveryEvent, suite } from "../../contracts/delivery-log.ts"
import { layerPostgres } from "../../support/postgres.ts"

const layerLog = layer.pipe(Layer.provideMerge(layerPostgres))

suite("PostgreSQL", Layer.fresh(layerLog))

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
  it.live("end in the in-order row with one alert, however they come (L2, L3, A1)", () => {
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
        (select count(*) from email_suppressions where reason = 'hard_bounce')::int as suppressed`
      assert.deepStrictEqual(counts, [{ rows: 40, suppressed: 40 }])
      assert.deepStrictEqual([...alerted].sort(), [...ids].sort())
    }).pipe(Effect.provide(EventRecording.layer.pipe(Layer.provide(alerts), Layer.provideMerge(layerLog))))
  })
})
