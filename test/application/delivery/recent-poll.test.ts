import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"

import * as MemoryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import * as MemoryPollLog from "../../../src/adapters/memory/delivery/event-poll.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { Alerts } from "../../../src/application/delivery/alerts.ts"
import { EventRecording, layer as layerRecording } from "../../../src/application/delivery/event-recording.ts"
import { layer as layerPoll, RecentPoll } from "../../../src/application/delivery/recent-poll.ts"
import type { DeliveryEvent } from "../../../src/domain/delivery/delivery-event.ts"
import { ListFailure, RecentEvents } from "../../../src/ports/delivery/event-poll.ts"
import { deliveryEvent } from "../../contracts/delivery/delivery-log.ts"

const NOW = 100 * 3_600_000

const eventAt = (id: string, event: string, occurredAt: number) =>
  deliveryEvent({
    provider: "postmark",
    providerMessageId: id,
    event,
    occurredAt,
    recipients: [`${id}@x.test`],
    ...(event === "bounced" ? { bounceType: "Permanent", suppress: [`${id}@x.test`] } : {})
  })

/** A provider that names these events, a log and a poll between them. */
const makeWorld = Effect.fnUntraced(function* () {
  yield* TestClock.adjust(NOW)
  const database = makeMailDatabase()
  const alerted: Array<string> = []
  const lists: { now: ReadonlyArray<DeliveryEvent> | ListFailure } = { now: [] }
  const newest = Effect.suspend(() =>
    lists.now instanceof ListFailure ? Effect.fail(lists.now) : Effect.succeed(lists.now)
  )
  const context = yield* Layer.build(
    layerPoll.pipe(
      Layer.provide([
        Layer.succeed(RecentEvents, RecentEvents.of({ provider: "postmark", newest })),
        MemoryPollLog.layer(database)
      ]),
      Layer.provideMerge(layerRecording),
      Layer.provide([
        MemoryLog.layer(database),
        Layer.mock(Alerts, {
          raise: ({ providerMessageId }) =>
            Effect.sync(() => {
              alerted.push(providerMessageId)
              return { delivery: "delivered" as const, escalated: undefined }
            })
        })
      ]),
      Layer.fresh
    )
  )
  const provided = Effect.provideContext(context)
  return {
    database,
    alerted,
    lists,
    run: provided(RecentPoll.use(({ run }) => run)),
    webhook: (event: DeliveryEvent) => provided(EventRecording.use(({ record }) => record(event)))
  }
})

describe("the poll of postmark (EVENT-33)", () => {
  it.effect("records what no webhook brought, once: a mail, its bounce, the suppression and one alert", () =>
    Effect.gen(function* () {
      const { alerted, database, lists, run } = yield* makeWorld()
      lists.now = [eventAt("m-1", "sent", NOW - 60_000), eventAt("m-1", "bounced", NOW - 30_000)]
      assert.deepStrictEqual(yield* run, { seen: 2, recorded: 2 })
      assert.deepStrictEqual(
        database.rows().map(({ provider, status }) => [provider, status]),
        [["postmark", "bounced"]]
      )
      assert.deepStrictEqual(database.suppressions(), [{ email: "m-1@x.test", reason: "hard_bounce" }])
      assert.deepStrictEqual(yield* run, { seen: 2, recorded: 0 })
      assert.deepStrictEqual(alerted, ["m-1"])
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("leaves alone what a webhook brought, and adds the failure that it missed", () =>
    Effect.gen(function* () {
      const { database, lists, run, webhook } = yield* makeWorld()
      yield* webhook(eventAt("m-1", "delivered", NOW - 60_000))
      yield* webhook(eventAt("m-2", "delivered", NOW - 60_000))
      lists.now = [
        eventAt("m-1", "sent", NOW - 90_000),
        eventAt("m-2", "sent", NOW - 90_000),
        eventAt("m-2", "complained", NOW - 1_000)
      ]
      assert.strictEqual((yield* run).recorded, 1)
      assert.deepStrictEqual(
        database.rows().map(({ lastEvent, status }) => [lastEvent, status]),
        [
          ["delivered", "delivered"],
          ["complained", "complained"]
        ]
      )
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("failures from before the log never alert, and suppress all the same", () =>
    Effect.gen(function* () {
      const { alerted, database, lists, run } = yield* makeWorld()
      lists.now = [eventAt("m-1", "bounced", NOW - 3 * 3_600_000)]
      yield* run
      assert.deepStrictEqual(alerted, [])
      assert.deepStrictEqual(database.suppressions(), [{ email: "m-1@x.test", reason: "hard_bounce" }])
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("fails with the provider's reason, and records nothing", () =>
    Effect.gen(function* () {
      const { database, lists, run } = yield* makeWorld()
      lists.now = new ListFailure({ kind: "refused", message: "no" })
      assert.strictEqual((yield* Effect.flip(run))._tag, "ListFailure")
      assert.deepStrictEqual(database.rows(), [])
    }).pipe(Effect.provide(Logger.layer([])))
  )
})
