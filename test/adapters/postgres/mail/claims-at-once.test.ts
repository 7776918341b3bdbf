/** What calls on one key make of each other while one of them is being written: a lock, and the order in which locks are taken. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { call } from "../send-queue/rows.ts"

const clear = empty("email_send_claims, email_log, email_suppressions")

type Row = Readonly<Record<string, unknown>>

const claim = (key: string, owner: string) => ({
  key_hash: key,
  addresses: [],
  payload_hash: "payload",
  provider: "provider_a",
  owner,
  lease_ms: 60_000,
  tag: `tag-${key}`
})

const begin = (...entries: ReadonlyArray<ReturnType<typeof claim>>) => call("begin_email_sends", entries)

/** The holders of all keys died. */
const died = WriteSql.use(
  (sql) => sql`update email_send_claims set lease_until = now() - interval '1 minute'`
)

/** Keys of which only a row of the log is left. */
const logged = (...keys: ReadonlyArray<string>) =>
  WriteSql.use(
    (sql) => sql`insert into email_log (key_hash, outcome, status, error_kind)
      select unnest(${keys}::text[]), 'failed', 'failed', 'rejected'`
  )

const settling = (key: string, owner: string) =>
  sendEntry({
    provider_message_id: `message-${key}-${owner}`,
    key_hash: key,
    key_tag: `tag-${key}`,
    settle: { owner, state: "accepted", ambiguous: false, result: { ok: true, status: "sent" } }
  })

const heldBy = WriteSql.use((sql) => sql<Row>`select key_hash as key, owner, state from email_send_claims`)

/** Twenty keys: the order in which they are named is not the order of their locks. */
const MANY = Array.from({ length: 20 }, (_, index) => `key-${String(index).padStart(2, "0")}`)
const [FIRST = "", ...OTHERS] = MANY
const BACKWARDS = MANY.toReversed()

const lockClaims = (keys: ReadonlyArray<string>) =>
  WriteSql.use((sql) => sql`update email_send_claims set updated_at = now() where key_hash = any(${keys})`)

layer(layerPostgres)("claims that meet", (it) => {
  it.effect(
    "S9: a dead holder's key passes to one call, also in batches with a key that only a row knows",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* begin(claim("key", "dead"))
        yield* died
        yield* logged("a", "b")
        const second = yield* whileOpen(
          begin(claim("a", "one"), claim("key", "one")),
          begin(claim("b", "two"), claim("key", "two"))
        )
        assert.deepStrictEqual(
          second.map(({ decision }) => decision),
          ["Claimed", "InProgress"]
        )
      })
  )

  it.effect("S3: a call whose key is just passing on may let no request leave", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* begin(claim("key", "slow"))
      yield* died
      const moved = yield* whileOpen(
        begin(claim("key", "heir")),
        sql`select move_email_claim('key', 'slow', 'provider_b') as moved`
      )
      assert.deepStrictEqual(moved, [{ moved: false }])
    })
  )

  it.effect("S3: a key that is just passing on stays its next holder's when the one before ends", () =>
    Effect.gen(function* () {
      yield* clear
      yield* begin(claim("key", "slow"))
      yield* died
      yield* whileOpen(begin(claim("key", "heir")), call("record_email_sends", [settling("key", "slow")]))
      assert.deepStrictEqual(yield* heldBy, [{ key: "key", owner: "heir", state: "held" }])
    })
  )

  it.effect("MAIL-44: a key that is just being used again is not dropped with its earlier use", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* begin(claim("key", "earlier"))
      yield* sql`update email_send_claims set state = 'accepted', result = '{}', lease_until = null,
        first_attempt_at = now() - interval '2 days', last_attempt_at = now() - interval '2 days'`
      const dropped = yield* whileOpen(
        begin(claim("key", "later")),
        sql`select purge_email_claims(10) as dropped`
      )
      assert.deepStrictEqual(dropped, [{ dropped: 0 }])
      assert.deepStrictEqual(yield* heldBy, [{ key: "key", owner: "later", state: "held" }])
    })
  )

  it.effect(
    "L1: a deferral waits for an event of its use that is just being written, and completes its row",
    () =>
      Effect.gen(function* () {
        yield* clear
        const event = {
          provider: "provider_a",
          provider_message_id: "m",
          event: "delivered",
          key_tag: "tag-key"
        }
        const deferral = {
          ...settling("key", "one"),
          outcome: "deferred",
          provider_message_id: null,
          settle: null
        }
        yield* whileOpen(call("record_email_events", [event]), call("record_email_sends", [deferral]))
        const sql = yield* WriteSql
        const rows = yield* sql`select outcome, status from email_log`
        assert.deepStrictEqual(rows, [{ outcome: "deferred", status: "delivered" }])
      })
  )

  // Each waits for the first one; had it locked another one before, the holder of the first would wait for it in turn.
  it.effect("are taken in the order of their keys by a batch, whatever it knows of them", () =>
    Effect.gen(function* () {
      yield* clear
      yield* begin(...MANY.map((key) => claim(key, "dead")))
      yield* died
      yield* logged("z")
      const taken = yield* whileOpen(
        lockClaims([FIRST]),
        begin(claim("z", "one"), ...BACKWARDS.map((key) => claim(key, "one"))),
        lockClaims(OTHERS)
      )
      assert.isTrue(taken.every(({ decision }) => decision === "Claimed"))
    })
  )

  it.effect("are ended in the order of their keys", () =>
    Effect.gen(function* () {
      yield* clear
      yield* begin(...MANY.map((key) => claim(key, "one")))
      yield* whileOpen(
        lockClaims([FIRST]),
        call(
          "record_email_sends",
          BACKWARDS.map((key, at) => ({
            ...settling(key, "one"),
            // Rows are written in the order of their messages, which is not that of the keys.
            provider_message_id: `m-${String(at).padStart(2, "0")}`
          }))
        ),
        lockClaims(OTHERS)
      )
      const held = yield* heldBy
      assert.isTrue(held.length === MANY.length && held.every(({ state }) => state === "accepted"))
    })
  )

  it.effect("have the locks of their tags taken in one order, which deferrals and events share", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const tags = yield* sql<{ readonly tag: string }>`
        select tag from unnest(${MANY.map((key) => `tag-${key}`)}::text[]) as tag order by email_key_lock(tag)`
      const lock = (some: typeof tags) =>
        Effect.forEach(some, ({ tag }) => sql`select pg_advisory_xact_lock(email_key_lock(${tag}))`)
      const deferral = (key: string) => ({
        ...settling(key, "one"),
        outcome: "deferred",
        provider_message_id: null,
        settle: null
      })
      yield* whileOpen(
        lock(tags.slice(0, 1)),
        call("record_email_sends", BACKWARDS.map(deferral)),
        lock(tags.slice(1))
      )
      const [row] = yield* sql`select count(*)::int as n from email_log where outcome = 'deferred'`
      assert.deepStrictEqual(row, { n: MANY.length })
    })
  )
})
