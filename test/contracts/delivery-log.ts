import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import type { DeliveryEvent } from "../../src/domain/delivery/delivery-event.ts"
import { DeliveryLog } from "../../src/ports/delivery-log.ts"

/** An event of a mail to one recipient. */
export const deliveryEvent = (changes: Partial<DeliveryEvent> = {}): DeliveryEvent => ({
  provider: "provider_a",
  providerMessageId: "m-1",
  event: "bounced",
  occurredAt: Date.parse("2026-01-02T03:04:05Z"),
  recipients: ["reader@inbox.test"],
  from: "hello@shop.test",
  subject: "Your order",
  reason: "Permanent/General",
  keyHash: undefined,
  bounceType: "Permanent",
  suppress: undefined,
  alertable: true,
  tags: {},
  raw: { text: "NUL \0, half a pair \ud800" },
  ...changes
})

/** What every delivery log does; each test gets one of its own. */
export const suite = (name: string, layer: Layer.Layer<DeliveryLog>) =>
  describe(`delivery log: ${name}`, () => {
    it.live("claims one alert a row, again once it is released (A1)", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const first = yield* log.record(deliveryEvent())
        assert.deepStrictEqual([first.status, first.alert, first.backfilled], ["bounced", true, false])
        assert.isFalse((yield* log.record(deliveryEvent())).alert)
        assert.isTrue(yield* log.releaseAlert(first.sendId))
        assert.isFalse(yield* log.releaseAlert(first.sendId))
        assert.deepStrictEqual(yield* log.record(deliveryEvent()), first)
      }).pipe(Effect.provide(layer))
    )

    it.live("keeps the claim of a backfill and of outreach without an alert", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const backfilled = yield* log.record(deliveryEvent(), { backfill: true })
        assert.deepStrictEqual([backfilled.alert, backfilled.backfilled], [false, true])
        assert.isFalse((yield* log.record(deliveryEvent())).alert)
        const outreach = deliveryEvent({ providerMessageId: "m-2", alertable: false })
        assert.isFalse((yield* log.record(outreach)).alert)
      }).pipe(Effect.provide(layer))
    )

    it.live("answers each of many at once for its own row (E1)", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const all = Array.from({ length: 300 }, (_, index) =>
          deliveryEvent({ providerMessageId: `m-${index % 100}`, event: index % 2 === 0 ? "sent" : "opened" })
        )
        const recorded = yield* Effect.forEach(all, (event) => log.record(event), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(recorded.map(({ sendId }) => sendId)).size, 100)
        for (const [index, { sendId }] of recorded.entries()) {
          assert.strictEqual(sendId, recorded[index % 100]!.sendId)
        }
      }).pipe(Effect.provide(layer))
    )
  })
