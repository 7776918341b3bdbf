import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import type { QueueId } from "../../../../src/domain/ids.ts"
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
  "a request of the send queue goes to hooks when it is cancelled, deferred, or ends before a provider could be asked (EVENT-80)",
  () =>
    Effect.gen(function* () {
      const world = yield* makeQueueWorld({ primary: "provider_b" })
      yield* world.sql`insert into event_hooks (url, secret) values ('https://shop.test/hooks', new_hook_secret())`
      const cancelled = yield* world.enqueue.one({ ...request("order-1"), to: "Ann <ANN@X.test>" })
      assert.strictEqual(yield* world.queue.cancel(cancelled.id), "cancelled")
      world.scripts.provider_b.push("ambiguous-lost")
      const deferred = yield* world.enqueue.one(request("order-2"))
      yield* world.start
      yield* world.inState(deferred.id, "deferred")
      const unreadable = { ...request("order-3"), attachments: [{ filename: "a.txt", content: "%" }] }
      const put = world.sql<{
        readonly id: QueueId
      }>`select enqueue_email(${JSON.stringify(unreadable)}::text::jsonb) as id`
      const [failed] = yield* put
      yield* world.inState(failed!.id, "failed")
      const rows = yield* world.sql`
      select type, body::jsonb -> 'data' ->> 'queueId' as id, body::jsonb -> 'data' -> 'to' as "to",
        body::jsonb -> 'data' ->> 'reason' as reason
      from event_hook_deliveries order by sequence`
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [
          { type: "email.cancelled", id: cancelled.id, to: ["ann@x.test"], reason: null },
          {
            type: "email.deferred",
            id: deferred.id,
            to: ["ann@x.test"],
            reason: "provider_b in memory: the script loses the request or the answer"
          },
          {
            type: "email.failed",
            id: failed!.id,
            to: ["ann@x.test"],
            reason: "attachments.0.content: is not base64"
          }
        ]
      )
      // It is proven unsent: its key is free.
      const [again] = yield* put
      assert.notStrictEqual(again!.id, failed!.id)
    }).pipe(Effect.provide(layerPostgres))
)
