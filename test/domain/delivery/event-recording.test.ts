import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"

import * as MemoryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { alertText } from "../../../src/domain/delivery/alert-policy.ts"
import { Alerts } from "../../../src/domain/delivery/alerts.ts"
import type { FailedSend } from "../../../src/domain/delivery/delivery-event.ts"
import { EventRecording, layer } from "../../../src/domain/delivery/event-recording.ts"
import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { deliveryEvent } from "../../contracts/delivery/delivery-log.ts"
import { attempt, mail } from "../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../support/any-id.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

it.effect(
  "webhooks that bring events are noted twice a minute at most; what the poll finds is not (E1)",
  () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      let down = false
      const log = Layer.mock(DeliveryLog, {
        record: () =>
          Effect.succeed({
            sendId: anyId("s"),
            status: "sent",
            alert: false,
            backfilled: false,
            category: undefined,
            source: undefined
          }),
        heard: (provider) =>
          Effect.suspend(() => {
            heard.push(provider)
            return down ? Effect.fail(storeDown()) : Effect.void
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

describe("the alert of a recorded event", () => {
  it.effect("says what kind of mail it is about, and where it came from", () =>
    Effect.gen(function* () {
      const database = makeMailDatabase()
      const raised: Array<FailedSend> = []
      const alerts = Layer.mock(Alerts, {
        raise: (failed) =>
          Effect.sync(() => {
            raised.push(failed)
            return { delivery: "delivered" as const, escalated: undefined }
          })
      })
      const one = mail({ category: "notification", source: "api:receipts" })
      yield* database.store.record(attempt(one, "sent", { providerMessageId: "m-1" }))
      yield* EventRecording.use(({ record }) => record(deliveryEvent())).pipe(
        Effect.provide(layer.pipe(Layer.provide([MemoryLog.layer(database), alerts])))
      )
      assert.lengthOf(raised, 1)
      assert.deepInclude(raised[0], { category: "notification", source: "api:receipts" })
      const { html, text } = alertText(raised[0]!)
      assert.include(text, "Category: notification\n")
      assert.include(text, "Source: api:receipts\n")
      assert.include(html, "<td>api:receipts</td>")
    })
  )
})
