import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { SlowSql } from "../../../../src/adapters/postgres/client.ts"
import { layer as layerStories } from "../../../../src/adapters/postgres/delivery/mail-stories.ts"
import { fixedRate } from "../../../../src/domain/mail/rate.ts"
import { MailStories } from "../../../../src/ports/delivery/mail-stories.ts"
import { noAnswer } from "../../../../src/ports/store-unavailable.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { untilFound } from "../../../support/until.ts"
import { makeQueueWorld } from "../../../support/worlds/queue-world.ts"

const request = (change: object = {}) => ({
  to: "a@x.test",
  subject: "Hello",
  text: "t",
  category: "transactional",
  source: "api:test",
  ...change
})

/** A world whose first move of a claim gets no answer, and recipients of whom one is suppressed: their claim has to be moved. */
const unmovable = Effect.gen(function* () {
  let failures = 0
  const world = yield* makeQueueWorld({
    storeAs: (store) => ({
      ...store,
      moveClaim: (entry) =>
        failures++ === 0 ? Effect.fail(noAnswer("moveClaim", "a moment")) : store.moveClaim(entry)
    })
  })
  yield* world.sql`select add_email_suppressions(array['manual:gone@x.test'], null)`
  return { world, to: ["a@x.test", "gone@x.test"], failures: () => failures }
})

describe("the sender of the queue", () => {
  it.live("Q1: sends what was committed, once, and writes one row with its end", () =>
    Effect.gen(function* () {
      const world = yield* makeQueueWorld()
      const queued = yield* world.enqueue.one(request({ idempotencyKey: "order-1" }))
      assert.strictEqual(queued.state, "queued")
      yield* world.start
      yield* world.inState(queued.id, "sent")
      const copies = yield* world.providers.provider_a.copies
      assert.lengthOf(copies, 1)
      const rows = yield* world.sql`select * from email_log where id = ${queued.id}::uuid`
      assert.lengthOf(rows, 1)
      assert.strictEqual(rows[0]?.["outcome"], "sent")
      const found = yield* world.queue.find(queued.id)
      assert.strictEqual(found?.result?.status, "sent")
      assert.strictEqual(found?.attempts, 1)
      const story = yield* MailStories.use((stories) => stories.of(queued.id)).pipe(
        Effect.provide(layerStories),
        Effect.provideService(SlowSql, world.sql)
      )
      assert.strictEqual(Date.parse(story?.rows[0]?.queued?.sendAt ?? ""), queued.sendAt)
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("a refusal puts it back; the next attempt goes out, and the row has both", () =>
    Effect.gen(function* () {
      const world = yield* makeQueueWorld()
      world.scripts.provider_a.push("unavailable")
      const { id } = yield* world.enqueue.one(request({ idempotencyKey: "order-2" }))
      yield* world.start
      yield* untilFound(
        "the refusal is written",
        Effect.map(
          world.sql`update email_send_queue set due_at = now() where id = ${id}::uuid and state = 'queued' and refusals = 1 returning error`,
          ([row]) => row
        )
      )
      yield* world.inState(id, "sent")
      const [row] = yield* world.sql`select attempts from email_log where id = ${id}::uuid`
      assert.lengthOf(row?.["attempts"] as ReadonlyArray<unknown>, 2)
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("D1: an ambiguous attempt is deferred in its own row, and its retry repeats the same bytes", () =>
    Effect.gen(function* () {
      const world = yield* makeQueueWorld({ primary: "provider_b" })
      world.scripts.provider_b.push("ambiguous-lost")
      const { id } = yield* world.enqueue.one(request({ idempotencyKey: "order-3" }))
      yield* world.start
      yield* world.inState(id, "deferred")
      yield* world.sql`update email_send_queue set due_at = now() where id = ${id}::uuid`
      yield* world.inState(id, "sent")
      assert.strictEqual(yield* world.providers.provider_b.received, 2)
      assert.lengthOf(yield* world.providers.provider_b.copies, 1)
      assert.lengthOf(
        yield* world.sql`select from email_log where key_hash = (select key_hash from email_send_queue where id = ${id}::uuid)`,
        1
      )
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("QUEUE-5: a turn that has passed is no fail-over: the request goes back", () =>
    Effect.gen(function* () {
      const world = yield* makeQueueWorld({
        fallback: "provider_b",
        paces: (["provider_a", "provider_b"] as const).map((provider) => ({ provider, ...fixedRate(100) })),
        queueAs: (queue) => ({
          ...queue,
          // Longer than a token is valid.
          begin: (entry) => Effect.delay(queue.begin(entry), "300 millis"),
          token: ({ provider }) => Effect.succeed(provider === "provider_b")
        })
      })
      const { id } = yield* world.enqueue.one(request({ idempotencyKey: "order-6" }))
      yield* world.start
      yield* untilFound(
        "the request is back",
        Effect.map(
          world.sql`select from email_send_queue where id = ${id}::uuid and attempts = 1 and refusals = 0 and state = 'queued'`,
          ([row]) => row
        )
      )
      assert.deepStrictEqual(
        [yield* world.providers.provider_a.received, yield* world.providers.provider_b.received],
        [0, 0]
      )
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("Q1: an end whose write is never answered is written again", () =>
    Effect.gen(function* () {
      let moves = 0
      const world = yield* makeQueueWorld({
        queueAs: (queue) => ({
          ...queue,
          move: (move) => Effect.suspend(() => (moves++ === 0 ? Effect.never : queue.move(move)))
        })
      })
      // What only a sender can see: the end that it writes has no row of a send.
      const attachments = [{ filename: "a.txt", content: "no base64!" }]
      const asked = JSON.stringify(request({ idempotencyKey: "order-5", attachments }))
      const [queued] = yield* world.sql<{
        readonly id: string
      }>`select enqueue_email(${asked}::text::jsonb) as id`
      yield* world.start
      const ended = yield* world.inState(queued!.id, "failed")
      assert.match(ended.error ?? "", /attachments/)
      assert.strictEqual(moves, 2)
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("Q1, S2: a key in doubt whose claim could not be moved is asked again, on the same provider", () =>
    Effect.gen(function* () {
      const { failures, to, world } = yield* unmovable
      const { id } = yield* world.enqueue.one(request({ idempotencyKey: "order-4", to }))
      // A process died in the direct send of the same key.
      yield* world.sql`
        insert into email_send_claims (
          key_hash, payload_hash, state, provider, ambiguous, leaving, owner, first_attempt_at, last_attempt_at
        )
        select key_hash, '', 'held', 'provider_a', true, true, 'dead', now() - interval '5 min', now() - interval '5 min'
        from email_send_queue where id = ${id}::uuid`
      yield* world.start
      yield* world.inState(id, "sent")
      assert.strictEqual(failures(), 2)
      assert.lengthOf(yield* world.providers.provider_a.copies, 1)
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live(
    "Q1: a key that nobody was asked for, as its claim could not be moved, is no doubt: it goes out at the next look",
    () =>
      Effect.gen(function* () {
        const { to, world } = yield* unmovable
        // This provider knows no keys: one in doubt would wait for its retry.
        const { id } = yield* world.enqueue.one(
          request({ idempotencyKey: "order-7", provider: "provider_b", to })
        )
        yield* world.start
        yield* world.inState(id, "sent")
        assert.lengthOf(yield* world.providers.provider_b.copies, 1)
      }).pipe(Effect.provide(layerPostgres))
  )
})
