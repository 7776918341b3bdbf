import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makeQueueWorld } from "../../../support/worlds/queue-world.ts"

const request = (key: string) => ({
  to: "ann@x.test",
  subject: "Hello",
  text: "t",
  category: "transactional",
  source: "api:test",
  idempotencyKey: key
})

it.live(
  "a request of the send queue goes to hooks when it is cancelled, and when it is deferred (EVENT-80)",
  () =>
    Effect.gen(function* () {
      const world = yield* makeQueueWorld({ primary: "provider_b" })
      yield* world.sql`insert into event_hooks (url, secret) values ('https://shop.test/hooks', new_hook_secret())`
      const cancelled = yield* world.enqueue.one(request("order-1"))
      assert.strictEqual(yield* world.queue.cancel(cancelled.id), "cancelled")
      world.scripts.provider_b.push("ambiguous-lost")
      const deferred = yield* world.enqueue.one(request("order-2"))
      yield* world.start
      yield* world.inState(deferred.id, "deferred")
      const rows = yield* world.sql`
      select type, body::jsonb -> 'data' ->> 'queueId' as id, body::jsonb -> 'data' -> 'to' as "to"
      from event_hook_deliveries order by sequence`
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [
          { type: "email.cancelled", id: cancelled.id, to: ["ann@x.test"] },
          { type: "email.deferred", id: deferred.id, to: ["ann@x.test"] }
        ]
      )
    }).pipe(Effect.provide(layerPostgres))
)
