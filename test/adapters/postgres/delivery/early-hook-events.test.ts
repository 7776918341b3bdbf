import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { call } from "./hook-rows.ts"

const TAG = "t".repeat(64)

const told = WriteSql.use(
  (sql) => sql<{
    readonly type: string
    readonly subject: string
    readonly waits: boolean
    readonly ofHook: string
  }>`
    select d.type, d.subject, d.next_at > clock_timestamp() as waits, h.url as "ofHook"
    from event_hook_deliveries d join event_hooks h on h.id = d.hook_id order by h.url, d.sequence`
)

describe("an event that comes before the library's row (EVENT-80)", () => {
  it.effect("a mail whose claim gives the event its key waits no longer than for the row, either", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`insert into event_hooks (url, types, secret) values
        ('https://a.test/', ${["*"]}, ${"whsec_cG9zdGxhbmUtaG9vay1zZWNyZXQtMS0zMi1ieXRlcyE="}),
        ('https://b.test/', ${["email.sent"]}, ${"whsec_cG9zdGxhbmUtaG9vay1zZWNyZXQtMS0zMi1ieXRlcyE="})`
      const keyHash = "a".repeat(64)
      yield* call("begin_email_sends", {
        key_hash: keyHash,
        addresses: ["ann@x.test"],
        payload_hash: "p",
        provider: "provider_b",
        owner: "o",
        lease_ms: 20_000,
        tag: TAG
      })
      const message = { provider: "provider_b", provider_message_id: "m-1", key_tag: TAG }
      yield* call("record_email_events", {
        ...message,
        event: "delivered",
        occurred_at: "2026-11-28T10:00:00Z",
        recipients: ["ann@x.test"]
      })
      const [before] = yield* told
      assert.deepInclude(before, { type: "email.delivered", subject: `key:${keyHash}`, waits: true })
      yield* call(
        "record_email_sends",
        sendEntry({ ...message, idempotency_key: "order-17", key_hash: keyHash })
      )
      assert.deepStrictEqual(
        (yield* told).map(({ ofHook, type, waits }) => [ofHook, type, waits]),
        [
          ["https://a.test/", "email.sent", false],
          ["https://a.test/", "email.delivered", false],
          ["https://b.test/", "email.sent", false]
        ]
      )
    }).pipe(Effect.provide(layerPostgres))
  )
})
