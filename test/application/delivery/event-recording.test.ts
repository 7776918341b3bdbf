import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"

import { renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import * as MemoryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { Alerts, sweepAlerts } from "../../../src/application/delivery/alerts.ts"
import { EventRecording, layer } from "../../../src/application/delivery/event-recording.ts"
import { alertMail } from "../../../src/domain/delivery/alert-policy.ts"
import type { FailedSend } from "../../../src/domain/delivery/delivery-event.ts"
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
      const { html, text } = renderMail(alertMail(raised[0]!, "https://postlane.test"))
      assert.include(text, "Category: notification\n")
      assert.include(text, "Source: api:receipts\n")
      assert.match(html, /<td[^>]*>api:receipts<\/td>/)
    })
  )

  it.effect(
    "EVENT-3: the bus is answered before it is raised; the claim is durable, and the sweep covers a crash",
    () =>
      Effect.gen(function* () {
        const database = makeMailDatabase()
        const started = yield* Deferred.make<void>()
        const raised: Array<FailedSend> = []
        // The alert's mail waits for a provider that does not answer.
        let answers = false
        const alerts = Layer.mock(Alerts, {
          raise: (failed) =>
            Effect.gen(function* () {
              raised.push(failed)
              yield* Deferred.succeed(started, undefined)
              if (!answers) return yield* Effect.never
              return { delivery: "delivered" as const, escalated: undefined }
            })
        })
        const log = MemoryLog.layer(database)
        const one = mail()
        yield* database.store.record(attempt(one, "sent", { providerMessageId: "m-1" }))
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layer.pipe(Layer.provide([log, alerts])), scope)
        const recorded = yield* Context.get(context, EventRecording).recordFirst(deliveryEvent())
        assert.isTrue(recorded.alert)
        assert.isNotNull(database.rows()[0]?.alertedAt)
        yield* Deferred.await(started)
        // The process ends before the alert does: what it left is raised by the sweep, once the claim's lease is over.
        yield* Scope.close(scope, Exit.void)
        answers = true
        yield* TestClock.adjust("3 minutes")
        assert.strictEqual(yield* sweepAlerts.pipe(Effect.provide([log, alerts])), 1)
        assert.lengthOf(raised, 2)
        yield* TestClock.adjust("3 minutes")
        assert.strictEqual(yield* sweepAlerts.pipe(Effect.provide([log, alerts])), 0)
      }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("of a flood are raised some at once behind the answers; the sweep has the others", () =>
    Effect.gen(function* () {
      const database = makeMailDatabase()
      let raising = 0
      const alerts = Layer.mock(Alerts, {
        raise: () =>
          Effect.andThen(
            Effect.sync(() => (raising += 1)),
            Effect.never
          )
      })
      yield* Effect.gen(function* () {
        const { recordFirst } = yield* EventRecording
        for (let at = 0; at < 40; at++)
          assert.isTrue((yield* recordFirst(deliveryEvent({ providerMessageId: `m-${at}` }))).alert)
        assert.strictEqual(raising, 16)
      }).pipe(
        Effect.provide(layer.pipe(Layer.provide([MemoryLog.layer(database), alerts]))),
        Effect.provide(Logger.layer([]))
      )
    })
  )
})
