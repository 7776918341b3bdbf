/** What an attempt makes of the row that is there already, also of one that an event is just writing (L1, MAIL-58, MAIL-70, MAIL-71). */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { FailureKind } from "../../../../src/domain/mail/failover.ts"
import { SendStatus } from "../../../../src/domain/mail/send-result.ts"
import { EmailStatus, isUndelivered } from "../../../../src/domain/mail/status.ts"
import { Category } from "../../../../src/domain/mail/suppression/policy.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { call } from "../send-queue/rows.ts"

const clear = empty("email_send_claims, email_log, email_suppressions, erased_suppressions, admin_audit_log")

type Row = Readonly<Record<string, unknown>>

const id = (number: number) => `${number}0000000-0000-4000-8000-000000000000`

const attempt = (number: number, outcome: string, more: object = {}) =>
  sendEntry({
    id: id(number),
    to: ["a@x.test"],
    outcome,
    key_hash: "key",
    key_tag: "tag",
    ...more
  })

const record = (...entries: ReadonlyArray<object>) => call("record_email_sends", entries)

const event = (message: string, kind = "delivered", more: object = {}) =>
  call("record_email_events", [
    { provider: "provider_a", provider_message_id: message, event: kind, recipients: [], ...more }
  ])
const TAGGED = { key_tag: "tag" }
const bounced = (message: string) => event(message, "bounced", { bounce_type: "Permanent" })

/** The rows, each by its message and how it stands. */
const rows = WriteSql.use(
  (sql) => sql<Row>`select provider_message_id as message, outcome, status from email_log
    order by created_at, provider_message_id nulls first`
)
const suppressed = WriteSql.use((sql) => sql<Row>`select email, reason from email_suppressions`)

layer(layerPostgres)("the words of a row", (it) => {
  it.effect("are those of the domain, and no other", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const known = (category: string, outcome: string | null, status: string, kind: string | null) =>
        Effect.map(
          sql<{
            readonly ok: boolean
          }>`select email_log_words_are_known(${category}, ${outcome}, ${status}, ${kind}) as ok`,
          ([row]) => row?.ok
        )
      for (const status of EmailStatus.literals)
        assert.isTrue(yield* known("auth", null, status, null), status)
      for (const category of [...Category.literals, "unknown"])
        assert.isTrue(yield* known(category, null, "sent", null), category)
      for (const outcome of SendStatus.literals)
        assert.isTrue(yield* known("auth", outcome, "sent", null), outcome)
      for (const kind of FailureKind.literals)
        assert.isTrue(yield* known("auth", "failed", "failed", kind), kind)
      assert.isFalse(yield* known("news", null, "sent", null))
      assert.isFalse(yield* known("auth", "delivered", "sent", null))
      assert.isFalse(yield* known("auth", null, "gone", null))
      assert.isFalse(yield* known("auth", null, "sent", "lost"))
    })
  )

  it.effect("say of a mail that it was accepted and not delivered, as isUndelivered does (EVENT-16)", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      for (const status of EmailStatus.literals)
        for (const error of [null, "why"]) {
          const [row] = yield* sql`select email_is_undelivered(${status}, ${error}) as undelivered`
          assert.deepStrictEqual(row, { undelivered: isUndelivered({ status, error }) }, `${status} ${error}`)
        }
    })
  )
})

layer(layerPostgres)("an attempt", (it) => {
  it.effect("is written once, and completes the row of its message", () =>
    Effect.gen(function* () {
      yield* clear
      yield* event("m-1")
      const entries = [1, 2].map((n) => attempt(n, "sent", { provider_message_id: `m-${n}` }))
      const answers = yield* record(...entries)
      assert.deepStrictEqual(yield* record(...entries), answers)
      assert.deepStrictEqual(yield* rows, [
        { message: "m-1", outcome: "sent", status: "delivered" },
        { message: "m-2", outcome: "sent", status: "sent" }
      ])
    })
  )

  it.effect("counts each recipient once", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      for (const [to, others, count] of [
        [["a@x.test"], [], 1],
        [["a@x.test", "A <a@x.test>"], ["b@x.test", "a@x.test"], 2]
      ] as const) {
        yield* clear
        yield* record(attempt(1, "failed", { to, others }))
        assert.deepStrictEqual(yield* sql`select recipient_count as count from email_log`, [{ count }])
      }
    })
  )

  const later: ReadonlyArray<readonly [first: string, second: object, rows: ReadonlyArray<Row>]> = [
    [
      "deferred",
      { outcome: "sent", provider_message_id: "m" },
      [{ message: "m", outcome: "sent", status: "sent" }]
    ],
    ["deferred", { outcome: "failed" }, [{ message: null, outcome: "failed", status: "failed" }]],
    ["failed", { outcome: "deferred" }, [{ message: null, outcome: "failed", status: "failed" }]],
    // The only evidence of an acceptance gets a row of its own.
    [
      "failed",
      { outcome: "sent", provider_message_id: "m" },
      [
        { message: null, outcome: "failed", status: "failed" },
        { message: "m", outcome: "sent", status: "sent" }
      ]
    ]
  ]
  it.effect.each(later)("that was %s and then %j leaves %j (MAIL-58)", ([first, second, left]) =>
    Effect.gen(function* () {
      yield* clear
      yield* record(attempt(1, first))
      yield* record({ ...attempt(1, first), ...second })
      assert.deepStrictEqual(yield* rows, left)
    })
  )

  it.effect(
    "that was accepted twice, as two messages, has two rows; one that says less changes neither",
    () =>
      Effect.gen(function* () {
        yield* clear
        for (const message of ["m-1", "m-2"])
          yield* record(attempt(1, "sent", { provider_message_id: message }))
        yield* record(attempt(1, "deferred"))
        assert.deepStrictEqual(yield* rows, [
          { message: "m-1", outcome: "sent", status: "sent" },
          { message: "m-2", outcome: "sent", status: "sent" }
        ])
      })
  )

  it.effect(
    "that is deferred completes the newest row that an event made of its use; a failed one none",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* event("m-1", "delivered", TAGGED)
        const sql = yield* WriteSql
        yield* sql`update email_log set created_at = created_at - interval '1 minute'`
        yield* event("m-2", "delivered", TAGGED)
        yield* record(attempt(1, "failed", { error_kind: "rejected" }))
        yield* record(attempt(2, "deferred"))
        assert.deepStrictEqual(yield* rows, [
          { message: "m-1", outcome: null, status: "delivered" },
          { message: "m-2", outcome: "deferred", status: "delivered" },
          { message: null, outcome: "failed", status: "failed" }
        ])
      })
  )

  it.effect(
    "tells its claim of an acceptance that an event proved of its deferral, and of nothing else (S9)",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        for (const [outcome, status] of [
          ["deferred", "sent"],
          ["failed", "failed"]
        ] as const) {
          yield* clear
          yield* record(attempt(1, "deferred"))
          yield* event("m", "delivered", TAGGED)
          yield* sql`insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at, tag)
          values ('key', 'p', 'held', 'provider_a', true, 'o', now() + interval '1 minute', now(), 'tag')`
          const result = {
            status: outcome,
            ok: outcome === "deferred",
            sendId: id(1),
            providerMessageId: null
          }
          yield* record(
            attempt(1, outcome, { settle: { owner: "o", state: "deferred", ambiguous: true, result } })
          )
          const [kept] =
            yield* sql`select result ->> 'status' as status, result ->> 'providerMessageId' as message from email_send_claims`
          assert.deepStrictEqual(kept, { status, message: status === "sent" ? "m" : null })
        }
      })
  )

  it.effect.each([
    ["an event made", event("m")],
    ["it wrote since its own has failed", record(attempt(1, "failed"))]
  ] as const)("tells its claim which row it has: one that %s (S9, MAIL-58)", ([, before]) =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* before
      yield* sql`insert into email_send_claims
        (key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at, tag)
        values ('key', 'p', 'held', 'provider_a', false, 'o', now() + interval '1 minute', now(), 'tag')`
      const result = { status: "sent", ok: true, sendId: id(1), providerMessageId: "m" }
      const settle = { owner: "o", state: "accepted", ambiguous: false, result }
      yield* record(attempt(1, "sent", { provider_message_id: "m", settle }))
      const made = yield* sql<Row>`select id::text from email_log where provider_message_id = 'm'`
      assert.notDeepEqual(made, [{ id: id(1) }])
      assert.deepStrictEqual(yield* sql`select result ->> 'sendId' as id from email_send_claims`, made)
    })
  )

  it.effect(
    "keeps what an event said of a mail to several, and forgets it where its only recipient got it (EVENT-16)",
    () =>
      Effect.gen(function* () {
        for (const [to, error] of [
          [["a@x.test"], null],
          [["a@x.test", "b@x.test"], "away"]
        ] as const) {
          yield* clear
          const sql = yield* WriteSql
          yield* event("m")
          yield* sql`update email_log set error = 'away'`
          yield* record(attempt(1, "sent", { to, provider_message_id: "m" }))
          assert.deepStrictEqual(yield* sql`select error from email_log`, [{ error }])
        }
      })
  )

  it.effect("costs what an accepted one does where an event proved its deferral (MAIL-72)", () =>
    Effect.gen(function* () {
      for (const [outcome, cost] of [
        ["deferred", 0.5],
        ["sent", null]
      ] as const) {
        yield* clear
        yield* event("m", "delivered", TAGGED)
        const message = outcome === "sent" ? { provider_message_id: "m" } : {}
        yield* record(attempt(1, outcome, { accepted_cost_usd: 0.5, cost_usd: null, ...message }))
        const sql = yield* WriteSql
        assert.deepStrictEqual(yield* sql`select cost_usd::float8 as cost from email_log`, [{ cost }])
      }
    })
  )

  it.effect(
    "suppresses by events that came before it: its only recipient, and none of several (EVENT-14)",
    () =>
      Effect.gen(function* () {
        for (const [to, expected] of [
          [["a@x.test"], [{ email: "a@x.test", reason: "hard_bounce" }]],
          [["a@x.test", "b@x.test"], []]
        ] as const) {
          yield* clear
          yield* bounced("m")
          yield* record(attempt(1, "sent", { to, provider_message_id: "m" }))
          assert.deepStrictEqual(yield* suppressed, expected)
        }
      })
  )
})

/**
 * `other` comes after `slow` has looked at its rows, and before it writes one: a trigger stops it there until `other` is done, or waits
 * for what `slow` holds.
 */
const between = Effect.fnUntraced(
  function* <E, E2>(slow: Effect.Effect<unknown, E, WriteSql>, other: Effect.Effect<unknown, E2, WriteSql>) {
    const sql = yield* WriteSql
    const untilWaiting = (count: number, isDone: () => boolean) =>
      sql`select pg_stat_clear_snapshot()`.pipe(
        Effect.andThen(sql<{ readonly n: number }>`select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`),
        Effect.repeat({ until: ([row]) => row?.n === count || isDone() })
      )
    yield* sql`create or replace function stop_here() returns trigger language plpgsql as $$ begin
      if current_setting('test.stops', true) = 'on' then perform pg_advisory_xact_lock(1); end if;
      return null;
    end $$`.unprepared
    yield* sql`create or replace trigger stop_here before update on email_log execute function stop_here()`
      .unprepared
    const held = yield* Latch.make(false)
    const stopped = yield* Latch.make(false)
    const stops = sql`select set_config('test.stops', 'on', true)`
    const first = yield* Effect.forkChild(
      Effect.andThen(held.await, sql.withTransaction(Effect.andThen(stops, slow)))
    )
    const second = yield* Effect.forkChild(Effect.andThen(stopped.await, other))
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`select pg_advisory_xact_lock(1)`
        yield* held.open
        yield* untilWaiting(1, () => first.pollUnsafe() !== undefined)
        yield* stopped.open
        yield* untilWaiting(2, () => second.pollUnsafe() !== undefined)
      })
    )
    yield* Fiber.join(first)
    yield* Fiber.join(second)
  },
  Effect.ensuring(WriteSql.use((sql) => Effect.ignore(sql`drop function if exists stop_here cascade`)))
)

layer(layerPostgres)("an attempt and an event that is just being written", (it) => {
  it.effect(
    "of its message, after it has looked at its row: somebody suppresses whom the event says (EVENT-14)",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* event("m")
        yield* between(record(attempt(1, "sent", { provider_message_id: "m" })), bounced("m"))
        assert.deepStrictEqual(yield* suppressed, [{ email: "a@x.test", reason: "hard_bounce" }])
      })
  )

  it.effect("of another copy, after it has looked at its row: each message has its row (MAIL-58)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* record(attempt(1, "deferred"))
      yield* between(
        record(attempt(1, "sent", { provider_message_id: "m-1" })),
        event("m-2", "delivered", TAGGED)
      )
      assert.sameDeepMembers(
        [...(yield* rows)],
        [
          { message: "m-1", outcome: "sent", status: "sent" },
          { message: "m-2", outcome: null, status: "delivered" }
        ]
      )
    })
  )

  it.effect("of its message: it suppresses whom the event says", () =>
    Effect.gen(function* () {
      yield* clear
      yield* event("m")
      yield* whileOpen(bounced("m"), record(attempt(1, "sent", { provider_message_id: "m" })))
      assert.deepStrictEqual(yield* suppressed, [{ email: "a@x.test", reason: "hard_bounce" }])
    })
  )

  it.effect("of the row that its deferral completes: it suppresses whom the event says", () =>
    Effect.gen(function* () {
      yield* clear
      yield* event("m", "delivered", TAGGED)
      yield* whileOpen(bounced("m"), record(attempt(1, "deferred")))
      assert.deepStrictEqual(yield* suppressed, [{ email: "a@x.test", reason: "hard_bounce" }])
    })
  )

  it.effect("of the row that it wrote or completed before: it is answered how that stands then", () =>
    Effect.gen(function* () {
      for (const isFirst of [true, false]) {
        yield* clear
        if (isFirst) yield* record(attempt(1, "deferred"))
        yield* event("m", "delivered", TAGGED)
        yield* record(attempt(1, "deferred"))
        const [again] = yield* whileOpen(bounced("m"), record(attempt(1, "deferred")))
        assert.deepInclude(again, { status: "bounced", provider_message_id: "m" })
        assert.lengthOf(yield* rows, 1)
      }
    })
  )

  it.effect("that makes the row of its message: its own row stays, and that one is completed", () =>
    Effect.gen(function* () {
      yield* clear
      yield* record(attempt(1, "deferred"))
      const sent = attempt(1, "sent", { provider_message_id: "m" })
      const [answer] = yield* whileOpen(event("m"), record(sent))
      assert.deepInclude(answer, { status: "delivered", provider_message_id: "m" })
      assert.deepStrictEqual(yield* rows, [
        { message: null, outcome: "deferred", status: "deferred" },
        { message: "m", outcome: "sent", status: "delivered" }
      ])
    })
  )

  it.effect("takes its rows in the order of their messages, by the row that a deferral completes (D1)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* event("m-1", "delivered", TAGGED)
      const sql = yield* WriteSql
      yield* sql`update email_log set created_at = created_at - interval '1 minute'`
      yield* event("m-9", "delivered", TAGGED)
      yield* event("m-5")
      const lock = (message: string) =>
        sql`update email_log set updated_at = now() where provider_message_id = ${message}`
      const sent = attempt(2, "sent", { provider_message_id: "m-5", key_hash: "k", key_tag: "t" })
      yield* whileOpen(lock("m-5"), record(attempt(1, "deferred"), sent), lock("m-9"))
      assert.deepInclude(yield* rows, { message: "m-9", outcome: "deferred", status: "delivered" })
    })
  )

  it.effect(
    "takes the row of an acceptance in the order of its own message, whatever an event of its use said",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* event("m-0", "delivered", TAGGED)
        yield* event("m-5")
        yield* event("m-1", "delivered", { provider: "provider_b" })
        const sql = yield* WriteSql
        const lock = (message: string) =>
          sql`update email_log set updated_at = now() where provider_message_id = ${message}`
        yield* whileOpen(
          lock("m-5"),
          record(
            attempt(1, "sent", { provider: "provider_b", provider_message_id: "m-1" }),
            attempt(2, "sent", { provider_message_id: "m-5", key_hash: "k", key_tag: "t" }),
            // With it none of them is taken for new.
            attempt(3, "failed", { key_hash: "l", key_tag: "u" })
          ),
          lock("m-1")
        )
        assert.lengthOf(yield* rows, 4)
      })
  )

  it.effect("of a person who is just being erased: a retry's row names them by the hash (MAIL-66)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* record(attempt(1, "deferred"))
      const sql = yield* WriteSql
      const settle = { owner: "o", state: "deferred", ambiguous: true, isRetry: true }
      yield* whileOpen(
        sql`select erase_person('a@x.test', 'admin')`,
        record(attempt(2, "failed", { error_kind: "ambiguous", settle }))
      )
      const named = yield* sql`select from email_log where to_addresses @> '{a@x.test}'`
      assert.lengthOf(named, 0)
      assert.lengthOf(yield* rows, 2)
    })
  )
})
