/** What a retry, and a report of how a deferral ended, make of the rows and the claim of its key. Ages are hours. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const clear = empty("email_send_claims, email_log, email_suppressions")

const SEND_ID = "10000000-0000-4000-8000-000000000000"
const RETRY_ID = "20000000-0000-4000-8000-000000000000"

type Row = Readonly<Record<string, unknown>>

interface Logged {
  readonly id?: string
  readonly outcome?: string | null
  readonly message?: string
  readonly key?: string | null
  readonly tag?: string
  readonly provider?: string
  readonly age?: number
}

const log = (...rows: ReadonlyArray<Logged>) =>
  WriteSql.use((sql) =>
    Effect.forEach(
      rows,
      ({ age = 1, id, key = "key", message, outcome = "failed", provider = "provider_a", tag = "tag" }) =>
        sql.unsafe(
          `insert into email_log (id, key_hash, key_tag, outcome, status, provider, provider_message_id, error, created_at)
        values ($1, $2, $3, $4, coalesce($4, 'delivered'), $5, $6, 'why', now() - make_interval(mins => $7))`,
          [id ?? crypto.randomUUID(), key, tag, outcome, provider, message ?? null, Math.round(age * 60)]
        )
    )
  )

interface Claimed {
  readonly state?: string
  readonly provider?: string
  readonly ambiguous?: boolean
  readonly leaving?: boolean
  readonly owner?: string
  readonly leased?: boolean
  readonly first?: number
  readonly tag?: string
  readonly result?: object
}

const claim = (one: Claimed = {}) =>
  WriteSql.use((sql) =>
    sql.unsafe(
      `insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until,
        first_attempt_at, last_attempt_at, tag, result)
      values ('key', 'p', $1, $2, $3, $4, $5, case when $6 then now() + interval '1 minute' else now() - interval '1 minute' end,
        now() - make_interval(mins => $7), now() - interval '30 minutes', $8, $9::text::jsonb)`,
      [
        one.state ?? "deferred",
        one.provider ?? "provider_a",
        one.ambiguous ?? false,
        one.leaving ?? true,
        one.owner ?? "another",
        one.leased ?? false,
        Math.round((one.first ?? 1) * 60),
        one.tag ?? "tag",
        one.result === undefined ? null : JSON.stringify(one.result)
      ]
    )
  )

const retry = (change: object = {}) =>
  WriteSql.use((sql) =>
    sql.unsafe<Row>(
      `select decision, torn, evidence ->> 'providerMessageId' as message,
        round((extract(epoch from now()) * 1000 - first_attempt_at) / 360000) / 10 as first from begin_email_retry($1::jsonb)`,
      [
        JSON.stringify({
          key_hash: "key",
          tag: "tag",
          first_attempt_at: null,
          age_ms: 7_200_000,
          provider: "provider_a",
          row_id: RETRY_ID,
          addresses: [],
          owner: "retry",
          lease_ms: 60_000,
          ...change
        })
      ]
    )
  ).pipe(Effect.map(([row]) => row!))

/** The claim's owner and state, and for how long its last attempt holds the key: under way, or since when, in hours. */
const kept = WriteSql.use(
  (
    sql
  ) => sql<Row>`select owner, state, provider, lease_until > now() as leased, last_attempt_at > now() as asks,
    (round(extract(epoch from now() - first_attempt_at) / 360) / 10)::float8 as first,
    (round(extract(epoch from now() - last_attempt_at) / 360) / 10)::float8 as last from email_send_claims`
).pipe(Effect.map(([row]) => row))

const EVENT = { outcome: null, message: "event" }
const DEFERRAL = { outcome: "deferred" }

layer(layerPostgres)("a retry", (it) => {
  it.effect("makes a claim of its key's rows of the last day where none is there", () =>
    Effect.gen(function* () {
      for (const [rows, first] of [
        [[{ age: 5 }, { age: 3 }, { age: 4 }], 5],
        [[{ age: 23 }, { age: 24.5 }, { ...EVENT, tag: "x", age: 23.5 }], 23],
        [[], 2]
      ] as const) {
        yield* clear
        yield* log(...rows)
        assert.deepInclude(yield* retry(), { decision: "Go", torn: false })
        assert.deepInclude(yield* kept, {
          owner: "retry",
          state: "deferred",
          leased: true,
          first,
          asks: true
        })
      }
    })
  )

  it.effect(
    "gives events of its tag their key, which names them from then on; those of another key keep it",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* log({ ...EVENT, key: null, age: 0.1 }, { ...EVENT, message: "other", key: "other" })
        assert.deepInclude(yield* retry(), { decision: "Settled", message: "event" })
        const sql = yield* WriteSql
        const keys = yield* sql`select provider_message_id as id, key_hash as key from email_log order by 1`
        assert.deepStrictEqual(keys, [
          { id: "event", key: "key" },
          { id: "other", key: "other" }
        ])
      })
  )

  it.effect("that is settled says when its own use began, also where the claim is a later one's", () =>
    Effect.gen(function* () {
      for (const [tag, first] of [
        ["tag", 5],
        ["later", 2]
      ] as const) {
        yield* clear
        yield* claim({ tag, first: 5 })
        yield* log(EVENT)
        const settled = yield* retry()
        assert.deepInclude(settled, { decision: "Settled", message: "event" })
        assert.strictEqual(Number(settled["first"]), first)
      }
    })
  )

  const decisions: ReadonlyArray<
    readonly [claim: Claimed, rows: ReadonlyArray<Logged>, asks: object, answer: Row, after: Row]
  > = [
    [{ leased: true }, [], {}, { decision: "Busy" }, { owner: "another" }],
    [{ leased: true, owner: "retry" }, [], {}, { decision: "Go", torn: false }, { owner: "retry" }],
    [{}, [], {}, { decision: "Go", torn: false }, { owner: "retry", asks: true }],
    [{ state: "refused" }, [], {}, { decision: "Go", torn: false }, { owner: "retry", state: "deferred" }],
    // A copy may be out elsewhere: the key ends.
    [{ state: "held", provider: "provider_b" }, [], {}, { torn: true }, { state: "ended", owner: "another" }],
    [
      { ambiguous: true, provider: "provider_b" },
      [],
      {},
      { torn: true },
      { state: "ended", owner: "another" }
    ],
    [{ state: "ended" }, [], {}, { torn: true }, { state: "ended" }],
    // None is: its provider is the retry's from now on.
    [
      { state: "held", leaving: false, provider: "provider_b" },
      [],
      {},
      { torn: false },
      { owner: "retry", provider: "provider_a" }
    ],
    [
      { state: "refused", provider: "provider_b" },
      [],
      {},
      { torn: false },
      { owner: "retry", provider: "provider_a" }
    ],
    // A send without a claim has left it in doubt elsewhere.
    [{}, [{ ...DEFERRAL, provider: "provider_b" }], {}, { torn: true }, { state: "ended", owner: "retry" }],
    [
      { state: "refused" },
      [{ ...DEFERRAL, provider: "provider_b" }],
      {},
      { torn: true },
      { state: "ended", owner: "retry" }
    ],
    [
      { state: "ambiguous" },
      [{ ...DEFERRAL, provider: "provider_b" }],
      {},
      { torn: true },
      { state: "ambiguous", owner: "another" }
    ],
    // The retry of an earlier use ends that; a day later it leaves the present one alone.
    [{ tag: "x" }, [], { age_ms: 23.5 * 3_600_000 }, { decision: "Go", torn: false }, { owner: "retry" }],
    [
      { tag: "x" },
      [],
      { age_ms: 24.5 * 3_600_000 },
      { decision: "Go", torn: null },
      { owner: "another", last: 0.5 }
    ],
    [
      { tag: "x", state: "held", provider: "provider_b" },
      [],
      {},
      { torn: false },
      { owner: "retry", provider: "provider_a" }
    ],
    // Who is late asks nobody, and holds the key for no longer.
    [{ first: 23.5 }, [], {}, { torn: false }, { owner: "retry", asks: true }],
    [{ first: 24.5 }, [], {}, { torn: false }, { owner: "retry", asks: false, last: 0.5 }]
  ]
  it.effect.each(decisions)(
    "of a key with %j, %j and %j is answered %j, and leaves %j",
    ([one, rows, asks, answer, after]) =>
      Effect.gen(function* () {
        yield* clear
        yield* claim(one)
        yield* log(...rows)
        assert.deepInclude(yield* retry(asks), answer)
        assert.deepInclude(yield* kept, after)
      })
  )

  it.effect(
    "waits for an event of its tag that is just being written: it may be the evidence (MAIL-52)",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* claim()
        const sql = yield* WriteSql
        const event = { provider: "provider_a", provider_message_id: "m", event: "delivered", key_tag: "tag" }
        const answer = yield* whileOpen(
          sql`select from record_email_events(${JSON.stringify([event])}::jsonb)`,
          retry()
        )
        assert.deepInclude(answer, { decision: "Settled", message: "m" })
      })
  )

  it.effect("waits for the call that is just taking its key over, and is busy then (S3)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* claim()
      const sql = yield* WriteSql
      const taken = sql`update email_send_claims set owner = 'heir', lease_until = now() + interval '1 minute'`
      assert.deepInclude(yield* whileOpen(taken, retry()), { decision: "Busy" })
      assert.deepInclude(yield* kept, { owner: "heir" })
    })
  )
})

layer(layerPostgres)("the end of a deferral", (it) => {
  const reported = WriteSql.use(
    (sql) =>
      sql<Row>`select outcome, provider_message_id as message from report_deferral_end('key', ${SEND_ID}::uuid)`
  ).pipe(Effect.map(([row]) => row))
  const OWN = { ...DEFERRAL, id: SEND_ID, age: 5 }
  const ends: ReadonlyArray<readonly [rows: ReadonlyArray<Logged>, end: Row | undefined]> = [
    [[OWN], undefined],
    [[OWN, {}], { outcome: "failed", message: null }],
    [[OWN, { outcome: "suppressed" }], { outcome: "suppressed", message: null }],
    [[OWN, { outcome: "sent" }], { outcome: "sent", message: null }],
    [[OWN, { outcome: "sent", message: "m" }], { outcome: "sent", message: "m" }],
    [[OWN, { ...EVENT, tag: "x" }], { outcome: "sent", message: "event" }],
    [[OWN, { age: 6 }], undefined],
    // A message before it, of the same use.
    [[OWN, { ...EVENT, age: 6 }], { outcome: "sent", message: "event" }],
    [[OWN, { ...EVENT, tag: "x", age: 6 }], undefined],
    // Proof before what is newer; then the newest.
    [[OWN, { outcome: "sent", age: 3 }, { age: 1 }], { outcome: "sent", message: null }],
    [[OWN, { ...EVENT, tag: "x", age: 3 }, { age: 1 }], { outcome: "sent", message: "event" }],
    [
      [OWN, { age: 3 }, { outcome: "suppressed", age: 1 }, { age: 2 }],
      { outcome: "suppressed", message: null }
    ],
    // Its row could not be written: no use of a key is longer than a day.
    [[{ age: 23.5 }], { outcome: "failed", message: null }],
    [[{ age: 24.5 }], undefined],
    [[{ ...EVENT, age: 24.5 }], undefined]
  ]
  it.effect.each(ends)("with the rows %j is %j", ([rows, end]) =>
    Effect.gen(function* () {
      yield* clear
      yield* log(...rows)
      assert.deepStrictEqual(yield* reported, end)
    })
  )

  const result = (message: string | null, sendId = SEND_ID) => ({
    status: message === null ? "deferred" : "sent",
    sendId,
    provider: "provider_a",
    providerMessageId: message
  })
  const claims: ReadonlyArray<
    readonly [claim: Claimed, rows: ReadonlyArray<Logged>, end: string | null, state: string]
  > = [
    [{ result: result(null) }, [EVENT], "event", "accepted"],
    [{ result: result(null, RETRY_ID) }, [EVENT], "event", "deferred"],
    [{ result: result(null), state: "ambiguous" }, [EVENT], "event", "ambiguous"],
    [{ result: result(null) }, [{}], null, "deferred"],
    // What was reported before is what every call hears.
    [{ result: result("told"), state: "accepted", first: 5 }, [EVENT], "told", "accepted"],
    [{ result: result("told"), state: "accepted", first: 3 }, [EVENT], "event", "accepted"],
    [{ result: result("told"), state: "ambiguous", first: 5 }, [EVENT], "event", "ambiguous"]
  ]
  it.effect.each(claims)(
    "with the claim %j and %j names %s and leaves it %s (S9)",
    ([one, rows, message, state]) =>
      Effect.gen(function* () {
        yield* clear
        yield* log({ ...OWN, age: 4 }, ...rows.map((row) => ({ ...row, tag: "x" })))
        yield* claim(one)
        assert.deepInclude(yield* reported, { message })
        assert.deepInclude(yield* kept, { state })
      })
  )

  it.effect("names what another call is just reporting (S9)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* log({ ...OWN, age: 4 }, { ...EVENT, tag: "x" })
      yield* claim({ result: result(null), first: 5 })
      const sql = yield* WriteSql
      const told = JSON.stringify(result("told"))
      const end = yield* whileOpen(
        sql`update email_send_claims set state = 'accepted', result = ${told}::text::jsonb`,
        reported
      )
      assert.deepInclude(end, { message: "told" })
    })
  )
})
