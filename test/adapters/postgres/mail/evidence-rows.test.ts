/** What rows of the log leave open of a key, or prove of it, case by case (S2, S4, MAIL-52). Ages are hours. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const clear = empty("email_send_claims, email_log, email_send_queue")

/** A row of the key: by default of an attempt of the library at provider A an hour ago. */
interface Logged {
  readonly outcome?: string | null
  readonly status?: string
  readonly error?: string
  readonly attempts?: number
  readonly message?: string
  readonly tag?: string
  readonly provider?: string | null
  readonly age?: number
  /** Of an event whose tag named no key when it came. */
  readonly keyless?: boolean
}

const log = (...rows: ReadonlyArray<Logged>) =>
  WriteSql.use((sql) =>
    Effect.forEach(rows, (row) =>
      sql.unsafe(
        `insert into email_log (key_hash, key_tag, outcome, status, error_kind, attempts, provider, provider_message_id, created_at)
        values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, now() - make_interval(mins => $9))`,
        [
          row.keyless === true ? null : "key",
          row.tag ?? "tag",
          row.outcome === undefined ? "sent" : row.outcome,
          row.status ?? row.outcome ?? "sent",
          row.error ?? null,
          JSON.stringify(Array.from({ length: row.attempts ?? 0 }, () => ({ outcome: "ambiguous" }))),
          row.provider === undefined ? "provider_a" : row.provider,
          row.message ?? null,
          Math.round((row.age ?? 1) * 60)
        ]
      )
    )
  )

const DOUBT = { outcome: "failed", error: "ambiguous", attempts: 1 }
const REFUSAL = { outcome: "failed", error: "rejected", attempts: 1 }
const DEFERRAL = { outcome: "deferred" }
const EVENT = { outcome: null, status: "delivered", message: "event" }

layer(layerPostgres)("rows of a key", (it) => {
  const doubts: ReadonlyArray<
    readonly [rows: ReadonlyArray<Logged>, elsewhereThan: string | null, at: string | null]
  > = [
    [[DEFERRAL], null, "provider_a"],
    [[DEFERRAL], "provider_b", "provider_a"],
    [[DEFERRAL], "provider_a", null],
    [[DOUBT], null, "provider_a"],
    [[{ ...DOUBT, attempts: 0 }], null, null],
    [[REFUSAL], null, null],
    // A later attempt was accepted: the row keeps its first error.
    [[{ ...DOUBT, outcome: "sent", message: "m" }], null, null],
    [[{ ...DEFERRAL, provider: null }], null, null],
    [[{ ...DEFERRAL, age: 12.5 }], null, "provider_a"],
    [[{ ...DEFERRAL, age: 13.5 }], null, null],
    [
      [
        { ...DEFERRAL, age: 3 },
        { ...DEFERRAL, provider: "provider_b", age: 1 },
        { ...DOUBT, age: 2 }
      ],
      null,
      "provider_b"
    ]
  ]
  it.effect.each(doubts)("%j leave it in doubt elsewhere than at %s: at %s", ([rows, than, at]) =>
    Effect.gen(function* () {
      yield* clear
      yield* log(...rows)
      const sql = yield* WriteSql
      // Since an hour ago: the row of a send that was half a day before may be of the same use, the clock having been put back.
      const found = yield* sql`select email_doubt_at('key', now() - interval '1 hour', ${than}) as at`
      assert.deepStrictEqual(found, [{ at }])
    })
  )

  const KNOWN = { provider: "provider_b", tag: "known", ageMs: 7_200_000, lastAgeMs: 3_600_000 }
  interface Trail {
    readonly provider: string
    readonly tag: string
    readonly since: number
    readonly last: number
  }
  const trail = (age: number, last = age): Trail => ({ provider: "provider_a", tag: "tag", since: age, last })
  const trails: ReadonlyArray<
    readonly [rows: ReadonlyArray<Logged>, known: object | null, trail: Trail | null]
  > = [
    [[], null, null],
    [[], KNOWN, { provider: "provider_b", tag: "known", since: 2, last: 1 }],
    [[], { tag: "known" }, null],
    [[{ message: "m" }], KNOWN, trail(1)],
    [[{ message: "m", age: 23.5 }], null, trail(23.5)],
    [[{ message: "m", age: 24.5 }], null, null],
    [[DEFERRAL, { ...DOUBT, age: 3 }, { ...REFUSAL, age: 5 }], null, trail(3, 1)],
    [[{ ...DOUBT, attempts: 0 }], null, null],
    [[{ ...DOUBT, outcome: "suppressed" }], null, null],
    [[{ ...DOUBT, error: "rejected" }], null, null],
    [[{ ...DEFERRAL, provider: null }], null, null],
    // An event counts where a row of the library carries its tag.
    [[EVENT], null, null],
    [[EVENT, { ...REFUSAL, age: 2 }], null, trail(1)],
    [[EVENT, { ...REFUSAL, tag: "other" }], null, null],
    // What proves an acceptance before what is newer, then what is newer.
    [
      [
        { ...DEFERRAL, provider: "provider_b" },
        { message: "m", age: 4, tag: "sent" },
        { message: "n", age: 5 }
      ],
      null,
      { provider: "provider_a", tag: "sent", since: 5, last: 1 }
    ],
    [
      [
        { ...DOUBT, age: 3, tag: "old" },
        { ...DEFERRAL, age: 1 },
        { ...DOUBT, age: 2, tag: "older" }
      ],
      null,
      trail(3, 1)
    ]
  ]
  it.effect.each(trails)("%j, and a process that knows %j, are the trail %j", ([rows, known, expected]) =>
    Effect.gen(function* () {
      yield* clear
      yield* log(...rows)
      const sql = yield* WriteSql
      const ageOf = (column: string) => `round(extract(epoch from now() - t.${column}) / 360)::int / 10.0`
      const found = yield* sql.unsafe<object>(
        `select t.provider, t.tag, (${ageOf("since")})::float8 as since, (${ageOf("last")})::float8 as last
        from find_email_trail('key', $1::jsonb) as t`,
        [known === null ? null : JSON.stringify(known)]
      )
      assert.deepStrictEqual(found[0] ?? null, expected)
    })
  )

  /** The claim of the key: a use with a tag, its first and last attempt, and what its callers were answered. */
  interface Claimed {
    readonly tag?: string
    readonly first: number
    readonly last?: number
    readonly state?: string
    readonly message?: string
  }
  const claim = ({ first, last = first, message, state = "held", tag = "tag" }: Claimed) =>
    WriteSql.use((sql) =>
      sql.unsafe(
        `insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, last_attempt_at, tag, result)
        values ('key', 'p', $1, 'provider_a', false, 'o', now() - make_interval(mins => $2), now() - make_interval(mins => $3), $4,
          case when $5::text is not null then jsonb_build_object('provider', 'provider_a', 'providerMessageId', $5::text) end)`,
        [state, Math.round(first * 60), Math.round(last * 60), tag, message ?? null]
      )
    )
  const M = { message: "m" }
  const proofs: ReadonlyArray<
    readonly [
      title: string,
      claim: Claimed | undefined,
      rows: ReadonlyArray<Logged>,
      first: number | null,
      proof: string | null
    ]
  > = [
    ["nothing", undefined, [], null, null],
    [
      "what callers were answered, before any row",
      { first: 2, state: "accepted", message: "told" },
      [M],
      null,
      "told"
    ],
    ["no answer of another state", { first: 2, state: "deferred", message: "told" }, [], null, null],
    ["the row of an attempt of this use", { first: 2 }, [{ ...M, tag: "untagged" }], null, "m"],
    ["no row of an earlier use", { first: 2 }, [{ ...M, age: 3, tag: "earlier" }], null, null],
    ["no attempt without a message", { first: 2 }, [DEFERRAL], null, null],
    ["no message without its provider", { first: 2 }, [{ ...EVENT, provider: null }], null, null],
    ["an event with the tag of this use", { first: 2 }, [EVENT], null, "event"],
    [
      "an event with the tag of an attempt of this use",
      { first: 2 },
      [
        { ...EVENT, tag: "x" },
        { ...REFUSAL, tag: "x" }
      ],
      null,
      "event"
    ],
    ["no event with another tag", { first: 2 }, [{ ...EVENT, tag: "x" }], null, null],
    [
      "an event less than a day before, by another clock",
      { first: 2 },
      [{ ...EVENT, age: 25.5 }],
      null,
      "event"
    ],
    ["no event of the day before", { first: 2 }, [{ ...EVENT, age: 26.5 }], null, null],
    ["an event whose key was not known", { first: 2 }, [{ ...EVENT, keyless: true }], null, "event"],
    [
      "a keyless event less than a day before",
      { first: 2 },
      [{ ...EVENT, keyless: true, age: 25.5 }],
      null,
      "event"
    ],
    [
      "no keyless event of the day before",
      { first: 2 },
      [{ ...EVENT, keyless: true, age: 26.5 }],
      null,
      null
    ],
    ["no keyless event with another tag", { first: 2 }, [{ ...EVENT, keyless: true, tag: "x" }], null, null],
    [
      "what was answered before what is newer",
      { first: 5 },
      [
        { ...M, age: 4 },
        { ...EVENT, age: 1 }
      ],
      null,
      "m"
    ],
    [
      "the newest of those",
      { first: 5 },
      [
        { ...EVENT, age: 3 },
        { ...EVENT, message: "new" },
        { ...EVENT, message: "x", age: 2 }
      ],
      null,
      "new"
    ],
    ["without a claim: a row since the first attempt", undefined, [M], 2, "m"],
    [
      "without a claim: a row of the day around its first row",
      undefined,
      [
        { ...DEFERRAL, age: 25 },
        { ...M, tag: "y", age: 1.5 }
      ],
      25,
      "m"
    ],
    [
      "without a claim: no row after that day",
      undefined,
      [
        { ...DEFERRAL, age: 26 },
        { ...M, tag: "y", age: 1.5 }
      ],
      26,
      null
    ],
    ["without a claim: no row of the day before", undefined, [{ ...M, tag: "y", age: 26 }], 2, null],
    ["without a claim: a row of nearly a day before", undefined, [{ ...M, tag: "y", age: 25.5 }], 2, "m"],
    ["without a claim: no row of this tag but of another use", undefined, [{ ...M, age: 50 }], 2, null],
    [
      "without a claim or a first attempt: by the first row of the tag",
      undefined,
      [
        { ...DEFERRAL, age: 50 },
        { ...M, tag: "y", age: 49 }
      ],
      null,
      "m"
    ],
    [
      "of the claim's use, which is not over for a day",
      { first: 30, last: 25.5 },
      [{ ...M, tag: "y", age: 29 }],
      2,
      "m"
    ],
    [
      "of a later use, a day after the claim's",
      { first: 30, last: 26.5 },
      [{ ...M, tag: "y", age: 29 }],
      2,
      null
    ],
    ["of another use than the claim's", { first: 30, tag: "other" }, [{ ...M, tag: "y", age: 29 }], 2, null],
    [
      "of a use whose claim is of the same day",
      { first: 3, tag: "other", state: "accepted", message: "told" },
      [],
      2,
      "told"
    ],
    [
      "of no claim of the day before",
      { first: 27, tag: "other", state: "accepted", message: "told" },
      [],
      2,
      null
    ],
    [
      "of no claim of the day after",
      { first: 1, tag: "other", state: "accepted", message: "told" },
      [],
      26,
      null
    ]
  ]
  it.effect.each(proofs)("prove: %s", ([title, claimed, rows, first, proof]) =>
    Effect.gen(function* () {
      yield* clear
      yield* log(...rows)
      if (claimed !== undefined) yield* claim(claimed)
      const sql = yield* WriteSql
      const found = yield* sql.unsafe<{ readonly id: string }>(
        "select provider_message_id as id from find_email_evidence('key', 'tag', now() - make_interval(mins => $1))",
        [first === null ? null : Math.round(first * 60)]
      )
      assert.deepStrictEqual(found.map(({ id }) => id)[0] ?? null, proof, title)
    })
  )

  /** The rows of the key `order`, as its callers name it. */
  const ends: ReadonlyArray<readonly [rows: ReadonlyArray<Logged>, end: string | null]> = [
    [[], null],
    [[{}], "sent"],
    [[DEFERRAL], "deferred"],
    [[{ ...DEFERRAL, age: 23.5 }], "deferred"],
    [[{ ...DEFERRAL, age: 24.5 }], "failed"],
    [[{ ...DEFERRAL, status: "delivered", message: "m" }], "sent"],
    [[{ ...DEFERRAL, age: 3 }, REFUSAL], "failed"],
    [[{ outcome: "suppressed", age: 3 }, DEFERRAL, { ...DOUBT, age: 2 }], "deferred"],
    [[{ ...DEFERRAL, age: 30 }, { outcome: "suppressed" }, { ...REFUSAL, age: 2 }], "suppressed"],
    [
      [
        { ...DEFERRAL, age: 30 },
        { outcome: "suppressed", age: 25 }
      ],
      "suppressed"
    ],
    [[REFUSAL], null],
    // In doubt at a provider that forgets keys, without a retry: the key is used up.
    [[{ ...DOUBT, provider: "provider_b" }], "failed"],
    [[DOUBT], null],
    [[{ outcome: "suppressed", provider: "provider_b" }], "failed"],
    [[{ ...REFUSAL, provider: "provider_b" }], null],
    [
      [
        { ...REFUSAL, provider: "provider_b", age: 3 },
        { ...DOUBT, provider: "provider_b" },
        { ...REFUSAL, age: 2 }
      ],
      "failed"
    ],
    [[{ ...EVENT, keyless: true }], "sent"],
    [[{ ...EVENT, keyless: true, tag: "another" }], null]
  ]
  it.effect.each(ends)("%j: its deferral ended %s (R3)", ([rows, end]) =>
    Effect.gen(function* () {
      yield* clear
      yield* log(...rows)
      const sql = yield* WriteSql
      yield* sql`with k as (select encode(sha256('order'), 'hex') as hash)
        update email_log l set key_hash = case when l.key_hash is not null then k.hash end,
          key_tag = case l.key_tag when 'tag' then email_use_tag(k.hash, 'first') else l.key_tag end from k`
      assert.deepStrictEqual(yield* sql`select email_deferral_end('order') as end`, [{ end }])
      const [open] = yield* sql`select key from email_open_key('order')`
      assert.deepStrictEqual(open, { key: end === "failed" || end === "suppressed" ? "order/2" : "order" })
    })
  )

  it.effect.each(["failed", "suppressed", "sent"])(
    "of requests of the queue: one that is %s ends its key so",
    (outcome) =>
      Effect.gen(function* () {
        yield* clear
        yield* log({ outcome, error: "rejected", age: 1 }, { outcome: "failed", error: "rejected", age: 2 })
        const sql = yield* WriteSql
        yield* sql`update email_log set key_hash = encode(sha256('order'), 'hex')`
        yield* sql`insert into email_send_queue (id, idempotency_key, key_hash, request_hash, category, lane, send_at, state, ended_at)
        select id, id::text, 'k', 'r', 'auth', 1, now(), outcome, now() from email_log where outcome = ${outcome}`
        assert.deepStrictEqual(yield* sql`select email_deferral_end('order') as end`, [{ end: outcome }])
      })
  )
})
