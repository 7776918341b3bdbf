/**
 * `PollLog`: it knows what the log holds already, and keeps the place that the first of two polls saved.
 *
 * Adapters: memory, postgres. Rules: EVENT-30, EVENT-31.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { PollLog, type PollPosition } from "../../../src/ports/delivery/event-poll.ts"
import { deliveryEvent } from "./delivery-log.ts"

/** What every poll log does; each test gets one of its own, beside the delivery log of the same rows. */
export const suite = (name: string, layer: Layer.Layer<PollLog | DeliveryLog>) =>
  describe(`poll log: ${name}`, () => {
    const test = <E>(title: string, body: Effect.Effect<void, E, PollLog | DeliveryLog>) =>
      it.live(title, () => Effect.provide(body, layer))

    test(
      "knows the rows of provider_a, their last event and whether their alert is due",
      Effect.gen(function* () {
        const poll = yield* PollLog
        const log = yield* DeliveryLog
        const ids = ["m-1", "m-2", "m-3", "m-4", "no row", "NUL \0 ' \" \ud800"]
        const empty = yield* poll.known(ids)
        assert.deepStrictEqual([empty.mails.size, empty.oldest], [0, undefined])
        const before = Date.now()
        yield* log.record(deliveryEvent({ providerMessageId: "m-1", event: "delivered" }))
        const bounced = yield* log.record(deliveryEvent({ providerMessageId: "m-2" }))
        yield* log.record(deliveryEvent({ providerMessageId: "m-3", provider: "provider_b" }))
        yield* log.record(deliveryEvent({ providerMessageId: "m-4" }), { backfill: true })
        const { mails, oldest } = yield* poll.known(ids)
        assert.deepStrictEqual(
          [...mails].sort(([a], [b]) => (a < b ? -1 : 1)),
          [
            ["m-1", { lastEvent: "delivered", alertDue: false }],
            ["m-2", { lastEvent: "bounced", alertDue: false }],
            ["m-4", { lastEvent: "bounced", alertDue: false }]
          ]
        )
        assert.isAtLeast(oldest ?? 0, before - 60_000)
        assert.isAtMost(oldest ?? Infinity, Date.now() + 60_000)
        yield* log.releaseAlert(bounced.sendId)
        assert.isTrue((yield* poll.known(["m-2"])).mails.get("m-2")?.alertDue)
        assert.strictEqual((yield* poll.known([])).mails.size, 0)
        assert.deepStrictEqual([...(yield* poll.known(ids, "provider_b")).mails.keys()], ["m-3"])
      })
    )

    test(
      "keeps the position, and of two runs at once the one that saved first",
      Effect.gen(function* () {
        const poll = yield* PollLog
        const first = yield* poll.position
        assert.deepStrictEqual(first, { position: { newest: undefined, gap: undefined }, version: 0 })
        const sentAt = Date.parse("2026-01-02T03:04:05.678Z")
        const positions: ReadonlyArray<PollPosition> = [
          { newest: { id: "m-9", sentAt }, gap: { after: "m-5", until: { id: "m-1", sentAt: undefined } } },
          { newest: { id: "m-9", sentAt: undefined }, gap: { after: "m-5", until: undefined } },
          { newest: { id: "m-10", sentAt: sentAt + 1 }, gap: { after: "m-5", until: { id: "m-2", sentAt } } },
          { newest: { id: "m-9", sentAt }, gap: { after: "m-5", until: { id: undefined, sentAt } } },
          { newest: undefined, gap: undefined }
        ]
        for (const position of positions) {
          const { version } = yield* poll.position
          const saved = yield* Effect.all(
            Array.from({ length: 10 }, () => poll.savePosition(position, version)),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(
            saved.filter((one) => one),
            1
          )
          assert.deepStrictEqual((yield* poll.position).position, position)
          assert.isFalse(yield* poll.savePosition({ newest: undefined, gap: undefined }, version))
        }
      })
    )
  })
