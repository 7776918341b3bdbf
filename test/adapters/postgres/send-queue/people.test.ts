import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer as layerSendQueue } from "../../../../src/adapters/postgres/mail/send-queue.ts"
import { fixedRate } from "../../../../src/domain/mail/rate.ts"
import type { QueueMove } from "../../../../src/ports/mail/send-queue.ts"
import { SendQueue } from "../../../../src/ports/mail/send-queue.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const GONE = "gone@x.test"

/** A queue on a database of its own. */
const makeWorld = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.fresh(Layer.provideMerge(layerSendQueue, layerPostgres)))
  const sql = Context.get(context, WriteSql)
  const queue = Context.get(context, SendQueue)
  const enqueue = Effect.fnUntraced(function* (change: object) {
    const request = {
      to: GONE,
      subject: "s",
      text: "t",
      category: "transactional",
      source: "api:test",
      ...change
    }
    const [queued] = yield* queue.enqueue([{ request, payloadHash: "p" }])
    return queued!
  })
  const take = Effect.map(
    queue.take({
      paces: [{ provider: "provider_a", ...fixedRate(0) }],
      primary: "provider_a",
      limit: 10,
      leaseMs: 60_000
    }),
    ({ mails }) => mails
  )
  const audit = sql`select action, actor, target from admin_audit_log where action like 'email_queue%' order by created_at, id`
  const erase = sql`select erase_person(${GONE}, 'admin') as found`
  const kept = sql<{
    readonly id: string
  }>`select id from email_send_queue q where position(${GONE} in q::text) > 0`
  return { sql, queue, enqueue, take, audit, erase, kept }
})

const back = (taken: Pick<QueueMove, "id" | "lease">): QueueMove => ({
  ...taken,
  state: "queued",
  dueMs: 0,
  tried: [],
  refusals: 1,
  error: `${GONE} is greylisted`,
  result: null,
  frees: false,
  record: undefined,
  writesRow: false
})

it.live("who pauses, resumes and cancels is written down, once where it changed something", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const { audit, enqueue, queue } = yield* makeWorld
      const { id } = yield* enqueue({})
      for (let times = 0; times < 2; times += 1) {
        yield* queue.pause({ category: undefined, actor: "ann", isPaused: true })
        assert.strictEqual(yield* queue.cancel(id, "ann"), "cancelled")
      }
      yield* queue.pause({ category: undefined, actor: "bob", isPaused: false })
      const own = yield* enqueue({})
      assert.strictEqual(yield* queue.cancel(own.id), "cancelled")
      assert.deepStrictEqual(yield* audit, [
        { action: "email_queue_pause", actor: "ann", target: "*" },
        { action: "email_queue_cancel", actor: "ann", target: id },
        { action: "email_queue_resume", actor: "bob", target: "*" }
      ])
    })
  )
)

it.live(
  "an erased person leaves the queue: alone it is cancelled, others get their mail, what has ended forgets them",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { enqueue, erase, kept, queue, sql, take } = yield* makeWorld
        const alone = yield* enqueue({ to: `Gone <${GONE.toUpperCase()}>`, sendAt: later() })
        const shared = yield* enqueue({ to: ["b@x.test", GONE], cc: GONE, sendAt: later() })
        const bystander = yield* enqueue({ to: "b@x.test", sendAt: later() })
        yield* sql`insert into email_send_queue
          (idempotency_key, key_hash, request_hash, category, lane, send_at, state, ended_at, error, result)
        values ('old', 'old', 'r', 'auth', 1, now(), 'failed', now(), ${`no such box ${GONE}`},
          ${JSON.stringify({ error: `no such box ${GONE}`, suppressedRecipients: [GONE] })}::jsonb)`
        assert.deepStrictEqual(yield* erase, [{ found: true }])
        assert.strictEqual((yield* queue.find(alone.id))?.state, "cancelled")
        assert.strictEqual((yield* queue.find(bystander.id))?.state, "queued")
        assert.deepStrictEqual(yield* kept, [])
        const [left] =
          yield* sql`select request -> 'to' as to, request -> 'cc' as cc from email_send_queue where id = ${shared.id}::uuid`
        assert.deepStrictEqual(left, { to: ["b@x.test"], cc: [] })
        assert.lengthOf(yield* take, 0)
      })
    )
)

it.live("a request that is being sent while its person is erased does not go back into the queue", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const { enqueue, erase, kept, queue, sql, take } = yield* makeWorld
      yield* sql`insert into event_hooks (url, secret) values ('https://shop.test/hooks', new_hook_secret())`
      const alone = yield* enqueue({})
      const shared = yield* enqueue({ to: [GONE, "b@x.test"] })
      const taken = yield* take
      assert.lengthOf(taken, 2)
      yield* erase
      for (const mail of taken) yield* queue.move({ ...back(mail), error: null })
      assert.strictEqual((yield* queue.find(alone.id))?.state, "cancelled")
      const again = yield* take
      assert.deepStrictEqual(
        again.map(({ id, request }) => [id, Reflect.get(Object(request), "to")]),
        [[shared.id, ["b@x.test"]]]
      )
      assert.deepStrictEqual(
        yield* sql`select body::jsonb -> 'data' ->> 'queueId' as id, body::jsonb -> 'data' -> 'to' as "to"
          from event_hook_deliveries where type = 'email.cancelled'`,
        [{ id: alone.id, to: [] }]
      )
      assert.deepStrictEqual(yield* kept, [])
    })
  )
)

const later = () => new Date(Date.now() + 3_600_000).toISOString()
