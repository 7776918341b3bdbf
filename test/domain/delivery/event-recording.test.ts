import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"

import { Alerts } from "../../../src/domain/delivery/alerts.ts"
import { EventRecording, layer } from "../../../src/domain/delivery/event-recording.ts"
import { DeliveryLog, DeliveryLogError } from "../../../src/ports/delivery-log.ts"
import { deliveryEvent } from "../../contracts/delivery-log.ts"

it.effect(
  "webhooks that bring events are noted twice a minute at most; what the poll finds is not (E1)",
  () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      let down = false
      const log = Layer.mock(DeliveryLog, {
        record: () => Effect.succeed({ sendId: "s", status: "sent", alert: false, backfilled: false }),
        heard: (provider) =>
          Effect.suspend(() => {
            heard.push(provider)
            return down
              ? Effect.fail(new DeliveryLogError({ operation: "heard", cause: "down" }))
              : Effect.void
          })
      })
      yield* Effect.gen(function* () {
        const { record } = yield* EventRecording
        const a = deliveryEvent({ provider: "provider_a" })
        yield* record(a, { polled: true })
        yield* record(a, { polled: true, backfill: true })
        assert.deepStrictEqual(heard, [])
        yield* record(a)
        yield* record(a)
        yield* record(deliveryEvent({ provider: "provider_b" }))
        assert.deepStrictEqual(heard, ["provider_a", "provider_b"])
        yield* TestClock.adjust("30 seconds")
        down = true
        assert.strictEqual((yield* record(a)).status, "sent")
        assert.deepStrictEqual(heard, ["provider_a", "provider_b", "provider_a"])
      }).pipe(
        Effect.provide(layer.pipe(Layer.provide([log, Layer.mock(Alerts, {})]))),
        Effect.provide(Logger.layer([]))
      )
    })
)
