/** What the database finds wrong with a request, field by field, and which rows the queue may hold. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { QueueState } from "../../../../src/domain/mail/queue.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { clear, enqueue, MAIL, stored } from "./rows.ts"

const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
const some = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@x.test`)
const NEWS = { category: "marketing", list: "weekly" }

/** A change of a request that has no fault, and the field that has one then; null where none has. */
const FIELDS: ReadonlyArray<readonly [change: object, field: string | null]> = [
  [{}, null],
  [{ unknown: 1 }, "unknown"],
  [{ subject: 1 }, "subject"],
  [{ to: [] }, "to"],
  [{ to: {} }, "to"],
  [{ to: some(50) }, null],
  [{ to: some(20), cc: some(20), bcc: some(11) }, "to"],
  [{ to: ["a@x.test", "none"] }, "to.1"],
  [{ to: ["a@x.test", 1] }, "to.1"],
  [{ cc: "none" }, "cc"],
  [{ from: "Ann <ann@x.test>", replyTo: "b@x.test" }, null],
  [{ subject: " " }, "subject"],
  [{ subject: "a\nb" }, "subject"],
  [{ text: undefined }, "html"],
  [{ category: undefined }, "category"],
  [{ category: "news" }, "category"],
  [NEWS, null],
  [{ ...NEWS, category: "notification" }, null],
  [{ ...NEWS, category: "transactional" }, "list"],
  [{ ...NEWS, list: "Weekly" }, "list"],
  [{ ...NEWS, list: "a".repeat(64) }, null],
  [{ ...NEWS, list: "a".repeat(65) }, "list"],
  [{ source: "" }, "source"],
  [{ source: "s".repeat(200) }, null],
  [{ source: "s".repeat(201) }, "source"],
  [{ idempotencyKey: "k".repeat(256) }, null],
  [{ idempotencyKey: "k".repeat(257) }, "idempotencyKey"],
  [{ idempotencyKey: "a\rb" }, "idempotencyKey"],
  [{ headers: "x" }, "headers"],
  [{ headers: { "X-A": 1 } }, "headers"],
  [{ headers: { "X-A": "1" } }, null],
  [{ tags: ["a"] }, "tags"],
  [{ tags: { order: "17" } }, null],
  [{ attachments: {} }, "attachments"],
  [{ attachments: [] }, null],
  [{ sendAt: "tomorrow" }, "sendAt"],
  [{ sendAt: inDays(29.5) }, null],
  [{ sendAt: inDays(30.5) }, "sendAt"],
  [{ expiresAt: "tomorrow" }, "expiresAt"],
  [{ expiresAt: inDays(-1) }, "expiresAt"],
  [{ expiresAt: inDays(1) }, null],
  [{ expiresAt: inDays(1), sendAt: inDays(2) }, "expiresAt"]
]

const faultOf = (request: unknown) =>
  WriteSql.use((sql) =>
    sql.unsafe<{ readonly fault: string | null; readonly plain: boolean | null }>(
      "select queued_request_fault(x) as fault, is_plain_request(x) as plain from cast($1::text as jsonb) as x",
      [JSON.stringify(request)]
    )
  )

layer(layerPostgres)("a request of the queue (QUEUE-1)", (it) => {
  it.effect.each(FIELDS)("changed by %j: the fault is in %s", ([change, field]) =>
    Effect.gen(function* () {
      const [row] = yield* faultOf({ ...MAIL, ...change })
      assert.strictEqual(row?.fault?.split(": ")[0] ?? null, field)
      assert.isFalse(field !== null && row?.plain === true)
    })
  )

  it.effect("is an object", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const faults =
        yield* sql`select queued_request_fault(x) as fault from jsonb_array_elements('[[], "request", null]') as x`
      for (const fault of faults)
        assert.deepStrictEqual(fault, { fault: "the request must be a JSON object" })
    })
  )

  it.effect("is kept without what counts as absent, and with all else", () =>
    Effect.gen(function* () {
      yield* clear
      const filled = { ...MAIL, tags: { a: "b" }, headers: { "X-A": "1" }, cc: [] }
      yield* enqueue({ ...filled, html: null }, { ...MAIL, tags: [], headers: [], bcc: null })
      const kept = (yield* stored("email_send_queue")).map(({ request }) => JSON.stringify(request))
      // As `jsonb` writes it: its fields in an order of its own.
      const sorted = (text: string) =>
        Object.entries(JSON.parse(text))
          .map((field) => JSON.stringify(field))
          .toSorted()
          .join()
      assert.deepStrictEqual(
        kept.map(sorted).toSorted(),
        [filled, MAIL].map((one) => sorted(JSON.stringify(one))).toSorted()
      )
    })
  )

  it.effect("is a row that is due, with its mail, until it has ended, and leased while it is under way", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const rows = yield* sql<Record<"state" | "lease" | "due" | "ended" | "mail" | "ok", unknown>>`
        select s as state, l as lease, d as due, e as ended, m as mail, is_queued_request(s, l, d, e, m) as ok
        from unnest(${[...QueueState.literals, "unknown"]}::text[]) as s, unnest('{t,f}'::boolean[]) as l,
          unnest('{t,f}'::boolean[]) as d, unnest('{t,f}'::boolean[]) as e, unnest('{t,f}'::boolean[]) as m`
      for (const { due, ended, lease, mail, ok, state } of rows)
        assert.strictEqual(
          ok,
          state !== "unknown" &&
            due === !ended &&
            mail === !ended &&
            (lease === false || state === "sending"),
          JSON.stringify({ due, ended, lease, mail, state })
        )
    })
  )
})
