import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/mail-stories.ts"
import { layer as layerStore } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { MailStories, MAX_STORY_ROWS } from "../../../../src/ports/delivery/mail-stories.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { attempt, mail } from "../../../contracts/mail/mail-store/mails.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../../support/worlds/mail-world.ts"

const layers = Layer.merge(layer, layerStore).pipe(Layer.provideMerge(layerPostgres))
const storyOf = (id: string) => MailStories.use((stories) => stories.of(id))
const first = { provider: "provider_a", reason: null, code: null, startedAt: 1000, durationMs: 5 } as const

suiteLayer(layers)("MailStories on Postgres", (it) => {
  it.effect("tells a mail that was deferred, retried and bounced, from any of its rows", () =>
    Effect.gen(function* () {
      const world = yield* makePostgresWorld
      const one = mail({ dropped: ["out@x.test"] })
      const { idempotencyKey, keyHash, to } = one.details
      yield* world.suppress({ email: "out@x.test", reason: "manual" })
      const deferred = attempt(one, "deferred", {
        attempts: [{ ...first, outcome: "ambiguous", reason: "no answer" }],
        retryAt: 121_000
      })
      const owner = "the first call"
      yield* world.store.begin({
        keyHash,
        addresses: to,
        claim: {
          owner,
          payloadHash: "p",
          provider: "provider_a",
          leaseMs: 60_000,
          tag: undefined,
          known: undefined
        }
      })
      yield* world.store.record(deferred)
      const messageId = `m-${keyHash}`
      const retry = attempt(one, "sent", {
        providerMessageId: messageId,
        attempts: [{ ...first, outcome: "accepted" }]
      })
      yield* world.store.record(retry)
      yield* world.recordEvent({
        provider: "provider_a",
        providerMessageId: messageId,
        event: "sent",
        listed: true,
        occurredAt: Date.UTC(2026, 0, 1)
      })
      for (const size of [10, 40_000, 1])
        yield* world.recordEvent({
          provider: "provider_a",
          providerMessageId: messageId,
          event: "opened",
          occurredAt: Date.UTC(2026, 0, 1, 1, size),
          raw: "x".repeat(size)
        })
      yield* world.recordEvent({
        provider: "provider_a",
        providerMessageId: messageId,
        event: "bounced",
        bounceType: "Permanent",
        occurredAt: Date.UTC(2026, 0, 2),
        raw: { why: "<gone>" }
      })
      const story = (yield* storyOf(deferred.rowId))!
      assert.deepStrictEqual(yield* storyOf(retry.rowId), story)
      assert.deepStrictEqual(
        story.rows.map(({ attempts, id, status }) => [id, status, attempts]),
        [
          [deferred.rowId, "deferred", deferred.attempts],
          [retry.rowId, "bounced", retry.attempts]
        ]
      )
      assert.strictEqual(story.rows[0]?.retry_at, "1970-01-01T00:02:01.000000Z")
      assert.deepStrictEqual(
        story.rows[1]?.events.map(({ bytes, by, event, number, raw }) => [
          number,
          event,
          by,
          raw,
          bytes > 40_000
        ]),
        [
          [1, "sent", "poll", null, false],
          [2, "opened", "webhook", "xxxxxxxxxx", false],
          [3, "opened", "webhook", null, true],
          [4, "opened", "webhook", "x", false],
          [5, "bounced", "webhook", { why: "<gone>" }, false]
        ]
      )
      assert.deepStrictEqual(story.rows[1]?.suppression_marks, [`hard_bounce:${to[0]}`])
      assert.deepInclude(story.claim, { state: "held", provider: "provider_a" })
      assert.deepStrictEqual(
        story.alerts.map(({ attempts, confirmedAt, sendId }) => [sendId, attempts, confirmedAt]),
        [[retry.rowId, 1, null]]
      )
      assert.sameDeepMembers(
        story.suppressions.map(({ email, reason }) => [email, reason]),
        [
          ["out@x.test", "manual"],
          [to[0], "hard_bounce"]
        ]
      )
      assert.strictEqual(story.rows[0]?.idempotency_key, idempotencyKey)
    })
  )

  it.effect("a story holds no more than a megabyte of bodies, the earliest", () =>
    Effect.gen(function* () {
      const world = yield* makePostgresWorld
      const message = {
        provider: "provider_a",
        providerMessageId: "clicked-often",
        event: "clicked"
      } as const
      yield* world.recordEvents(
        Array.from({ length: 90 }, (_, minute) => ({
          ...message,
          occurredAt: minute * 60_000,
          raw: "y".repeat(30_000)
        }))
      )
      const row = (yield* world.rows).find(({ providerMessageId }) => providerMessageId === "clicked-often")
      const events = (yield* storyOf(row!.id))?.rows[0]?.events ?? []
      assert.lengthOf(events, 90)
      assert.deepStrictEqual(
        events.map(({ raw }) => raw !== null),
        events.map((_, index) => index < 33)
      )
    })
  )

  it.effect("an unknown row has none, one without a key stands alone, a key used for ever has an end", () =>
    Effect.gen(function* () {
      const world = yield* makePostgresWorld
      assert.isUndefined(yield* storyOf("0199a000-0000-7000-8000-00000000dead"))
      yield* world.recordEvent({ provider: "provider_b", providerMessageId: "alone", event: "delivered" })
      const [alone] = yield* WriteSql.use(
        (sql) => sql<{ readonly id: string }>`select id from email_log where provider_message_id = 'alone'`
      )
      const story = yield* storyOf(alone!.id)
      assert.deepStrictEqual([story?.rows.length, story?.claim], [1, undefined])
      const daily = mail()
      const store = yield* MailStore
      const rows = Array.from({ length: MAX_STORY_ROWS + 5 }, () => attempt(daily, "suppressed"))
      yield* Effect.forEach(rows, store.record)
      const found = yield* storyOf(rows[0]!.rowId)
      assert.isTrue(found?.rows.some(({ id }) => id === rows[0]!.rowId))
      assert.isAtMost(found?.rows.length ?? 0, MAX_STORY_ROWS + 1)
      assert.isTrue(found?.rows.some(({ id }) => id === rows.at(-1)!.rowId))
    })
  )
})
