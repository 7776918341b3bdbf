/**
 * `DeliveryLog`: a failure claims one alert, which is confirmed, released, or raised again by one other.
 *
 * Adapters: memory, postgres. Rules: A1, E1, EVENT-20, EVENT-23, EVENT-24.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, type Layer } from "effect"

import type { DeliveryEvent } from "../../../src/domain/delivery/delivery-event.ts"
import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { anyId } from "../../support/any-id.ts"

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
  keyTag: undefined,
  bounceType: "Permanent",
  suppress: undefined,
  alertable: true,
  tags: {},
  raw: { text: "NUL \0, half a pair \ud800", "NUL \0, half a pair \ud800": 1 },
  ...changes
})

/** What every delivery log does; each test gets one of its own. `advance` lets time pass for claims of alerts. */
export const suite = <R>(
  name: string,
  layer: Layer.Layer<DeliveryLog | R>,
  advance: (time: Duration.Input) => Effect.Effect<unknown, never, R>
) =>
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

    it.effect("knows no span of a mail that nobody traced", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const { sendId } = yield* log.record(deliveryEvent())
        assert.isUndefined(yield* log.traceparent(sendId))
        assert.isUndefined(yield* log.traceparent(anyId("00000000-0000-4000-8000-00000000dead")))
      }).pipe(Effect.provide(layer))
    )

    it.effect("raises no alert again that was confirmed, whatever else is said of it (A1)", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const { sendId } = yield* log.record(deliveryEvent())
        assert.isTrue(yield* log.confirmAlert(sendId))
        assert.isFalse(yield* log.confirmAlert(sendId))
        assert.isFalse(yield* log.releaseAlert(sendId))
        assert.isFalse((yield* log.record(deliveryEvent({ event: "complained" }))).alert)
        yield* advance("1 day")
        assert.isUndefined(yield* log.claimDueAlert)
        assert.isFalse(yield* log.confirmAlert(anyId("00000000-0000-4000-8000-00000000dead")))
      }).pipe(Effect.provide(layer))
    )

    it.effect("gives a claim that nobody settled to one other, once its three minutes are over (A1)", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const event = deliveryEvent({ tags: { category: "transactional" }, suppress: ["named@inbox.test"] })
        const { sendId } = yield* log.record(event)
        yield* advance("170 seconds")
        assert.isUndefined(yield* log.claimDueAlert)
        yield* advance("11 seconds")
        assert.deepStrictEqual(yield* log.claimDueAlert, {
          sendId,
          provider: "provider_a",
          providerMessageId: "m-1",
          event: "bounced",
          recipients: ["named@inbox.test"],
          subject: "Your order",
          category: "transactional",
          source: undefined,
          reason: "Permanent/General",
          occurredAt: "2026-01-02T03:04:05.000Z"
        })
        assert.isUndefined(yield* log.claimDueAlert)
        assert.isFalse((yield* log.record(event)).alert)
        yield* advance("181 seconds")
        assert.strictEqual((yield* log.claimDueAlert)?.sendId, sendId)
        assert.isTrue(yield* log.confirmAlert(sendId))
        yield* advance("1 day")
        assert.isUndefined(yield* log.claimDueAlert)
      }).pipe(Effect.provide(layer))
    )

    it.effect(
      "a released alert is the next event's; without one it is due after a minute, then after two",
      () =>
        Effect.gen(function* () {
          const log = yield* DeliveryLog
          const { sendId } = yield* log.record(deliveryEvent())
          assert.isTrue(yield* log.releaseAlert(sendId))
          assert.isUndefined(yield* log.claimDueAlert)
          yield* advance("61 seconds")
          assert.strictEqual((yield* log.claimDueAlert)?.sendId, sendId)
          assert.isFalse((yield* log.record(deliveryEvent())).alert, "the sweep holds the claim")
          assert.isTrue(yield* log.releaseAlert(sendId))
          yield* advance("110 seconds")
          assert.isUndefined(yield* log.claimDueAlert)
          assert.isTrue((yield* log.record(deliveryEvent())).alert)
          yield* advance("170 seconds")
          assert.isUndefined(yield* log.claimDueAlert, "the event holds the claim")
        }).pipe(Effect.provide(layer))
    )

    it.effect(
      "an alert that some channel has is no event's any more; it is due for the others, for a day (A1)",
      () =>
        Effect.gen(function* () {
          const log = yield* DeliveryLog
          const { sendId } = yield* log.record(deliveryEvent())
          assert.isTrue(yield* log.releaseAlert(sendId, ["chat"]))
          assert.isFalse((yield* log.record(deliveryEvent())).alert)
          let tries = 1
          for (; ; tries++) {
            yield* advance("61 minutes")
            const due = yield* log.claimDueAlert
            if (due === undefined) break
            assert.deepInclude(due, { sendId, taken: ["chat"] })
            assert.isTrue(yield* log.releaseAlert(sendId, ["chat"]))
          }
          assert.strictEqual(tries, 24)
          assert.isFalse(yield* log.confirmAlert(sendId))
        }).pipe(Effect.provide(layer))
    )

    it.effect("gives out the alert that is due for longest first, whenever it was claimed", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const record = (providerMessageId: string) => log.record(deliveryEvent({ providerMessageId }))
        yield* record("m-1")
        yield* advance("10 seconds")
        const released = yield* record("m-2")
        assert.isTrue(yield* log.releaseAlert(released.sendId))
        yield* advance("10 seconds")
        yield* record("m-3")
        yield* advance("1 day")
        const due = yield* Effect.forEach([1, 2, 3, 4], () => log.claimDueAlert)
        assert.deepStrictEqual(
          due.map((alert) => alert?.providerMessageId),
          ["m-2", "m-1", "m-3", undefined]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("an alert that went out is not raised again, though its claim was released meanwhile", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        const { sendId } = yield* log.record(deliveryEvent())
        yield* advance("181 seconds")
        assert.strictEqual((yield* log.claimDueAlert)?.sendId, sendId)
        assert.isTrue(yield* log.releaseAlert(sendId), "by a process that was frozen")
        assert.isTrue(yield* log.confirmAlert(sendId))
        assert.isFalse((yield* log.record(deliveryEvent())).alert)
        yield* advance("1 day")
        assert.isUndefined(yield* log.claimDueAlert)
      }).pipe(Effect.provide(layer))
    )

    it.effect("has no alert to raise again for a backfill and for outreach", () =>
      Effect.gen(function* () {
        const log = yield* DeliveryLog
        yield* log.record(deliveryEvent(), { backfill: true })
        yield* log.record(deliveryEvent())
        yield* log.record(deliveryEvent({ providerMessageId: "m-2", alertable: false }))
        yield* advance("1 day")
        assert.isUndefined(yield* log.claimDueAlert)
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
