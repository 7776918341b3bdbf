import { createHash } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer, layerReading } from "../../../../src/adapters/postgres/delivery/email-log-query.ts"
import { append } from "../../../../src/domain/lists.ts"
import {
  EmailLogQuery,
  type EmailLogFilter,
  type EmailLogPage
} from "../../../../src/ports/delivery/email-log-query.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const page = (filter: Partial<EmailLogFilter> = {}) =>
  EmailLogQuery.use((log) => log.page({ limit: 50, ...filter }))

const subjects = (filter: Partial<EmailLogFilter>) =>
  Effect.map(page(filter), ({ rows }) => rows.map(({ subject }) => subject))

const insert = (rows: ReadonlyArray<Record<string, unknown>>) =>
  WriteSql.use((sql) =>
    Effect.forEach(
      rows,
      (row) =>
        sql`insert into email_log ${sql.insert({ category: "transactional", status: "sent", ...row })}`,
      { discard: true }
    )
  )

const clean = WriteSql.use((sql) => sql`delete from email_log`)

suiteLayer(layer.pipe(Layer.provideMerge(layerPostgres)))("EmailLogQuery on Postgres", (it) => {
  it.effect("gives rows with the columns' names as keys", () =>
    Effect.gen(function* () {
      yield* clean
      yield* insert([
        {
          source: "api:contact",
          from_address: "noreply@x.test",
          to_addresses: ["a@x.test", "b@x.test"],
          subject: "Hello",
          outcome: "sent",
          provider: "provider_a",
          provider_message_id: "m-1",
          cost_usd: "0.0004",
          idempotency_key: "k-1",
          raw: JSON.stringify({ type: "email.sent" }),
          created_at: "2026-01-02T03:04:05.678901Z"
        }
      ])
      const { rows, nextCursor } = yield* page()
      assert.strictEqual(nextCursor, null)
      const row = rows[0]!
      assert.strictEqual(row.created_at, "2026-01-02T03:04:05.678901Z")
      assert.deepStrictEqual(row.to_addresses, ["a@x.test", "b@x.test"])
      assert.strictEqual(row.cost_usd, 0.0004)
      assert.strictEqual(row.alerted_at, null)
      assert.strictEqual(row.error_kind, null)
      assert.strictEqual(row.failed_over, false)
      assert.deepStrictEqual(row.raw, { type: "email.sent" })
      assert.strictEqual(row.provider_message_id, "m-1")
    })
  )

  it.effect("finds a mail by its key, its provider's id and its day, and counts what matches", () =>
    Effect.gen(function* () {
      yield* clean
      const day = (subject: string, created_at: string, more: Record<string, unknown> = {}) => ({
        subject,
        created_at,
        ...more
      })
      const key_hash = createHash("sha256").update("order 17/é").digest("hex")
      yield* insert([
        day("first", "2026-01-01T00:00:00Z", { key_hash }),
        day("second", "2026-01-01T23:59:59.999999Z", { provider: "provider_b", provider_message_id: "m" }),
        day("third", "2026-01-02T00:00:00Z", { provider: "provider_a", provider_message_id: "m", key_hash })
      ])
      assert.deepStrictEqual(yield* subjects({ key: "order 17/é" }), ["third", "first"])
      assert.deepStrictEqual(yield* subjects({ key: "order 17" }), [])
      assert.deepStrictEqual(yield* subjects({ messageId: "m" }), ["third", "second"])
      assert.deepStrictEqual(yield* subjects({ messageId: "m", provider: "provider_b" }), ["second"])
      const [newest] = (yield* EmailLogQuery.use((log) => log.page({ limit: 1 }))).rows
      assert.deepStrictEqual(yield* subjects({ id: newest!.id.toUpperCase() }), ["third"])
      assert.deepStrictEqual(yield* subjects({ id: newest!.id, key: "order 17" }), [])
      assert.deepStrictEqual(yield* subjects({ since: "2026-01-02" }), ["third"])
      assert.deepStrictEqual(yield* subjects({ until: "2026-01-01" }), ["second", "first"])
      assert.deepStrictEqual(
        yield* subjects({ since: "2026-01-01", until: "2026-01-01", key: "order 17/é" }),
        ["first"]
      )
      const log = yield* EmailLogQuery
      assert.deepStrictEqual(
        yield* Effect.all([log.count({}, 100), log.count({}, 2), log.count({ until: "2026-01-01" }, 100)]),
        [{ count: 3 }, { count: 2 }, { count: 2 }]
      )
    })
  )

  it.effect("gives the rows beside one, newest first, and whether there are more on that side", () =>
    Effect.gen(function* () {
      yield* clean
      const created_at = "2026-01-02T00:00:00Z"
      // Two of one moment: their ids say which comes first.
      yield* insert([
        { subject: "1", created_at: "2026-01-01T00:00:00Z" },
        { subject: "2", created_at, id: "00000000-0000-7000-8000-000000000002" },
        { subject: "3", created_at, id: "00000000-0000-7000-8000-000000000003" },
        { subject: "4", created_at: "2026-01-03T00:00:00Z" },
        { subject: "5", created_at: "2026-01-04T00:00:00Z" }
      ])
      const log = yield* EmailLogQuery
      const { rows } = yield* page()
      const beside = (at: number, side: "older" | "newer", limit: number) =>
        Effect.map(log.beside({ id: rows[at]!.id, side, limit }), (found) => [
          found.rows.map(({ subject }) => subject).join(""),
          found.hasMore
        ])
      assert.deepStrictEqual(yield* beside(2, "older", 1), ["2", true])
      assert.deepStrictEqual(yield* beside(2, "older", 2), ["21", false])
      assert.deepStrictEqual(yield* beside(3, "newer", 2), ["43", true])
      assert.deepStrictEqual(yield* beside(3, "newer", 3), ["543", false])
      assert.deepStrictEqual(yield* beside(0, "newer", 3), ["", false])
      const nobody = { id: "00000000-0000-7000-8000-00000000000f", limit: 3 }
      for (const side of ["older", "newer"] as const)
        assert.deepStrictEqual(yield* log.beside({ ...nobody, side }), { rows: [], hasMore: false })
    })
  )

  it.effect("filters by each field, and by all together", () =>
    Effect.gen(function* () {
      yield* clean
      yield* insert([
        {
          subject: "Your receipt",
          to_addresses: ["a@x.test"],
          provider: "provider_a",
          provider_message_id: "1"
        },
        { subject: "100% off_er", to_addresses: ["b@x.test"], category: "marketing", status: "bounced" },
        {
          subject: "1000 offXer",
          to_addresses: ["aa@x.test"],
          other_addresses: ["copy@x.test", "blind@x.test"],
          dropped_addresses: ["out@x.test"],
          provider: "provider_b",
          provider_message_id: "2"
        }
      ])
      assert.deepStrictEqual(yield* subjects({ status: "bounced" }), ["100% off_er"])
      assert.deepStrictEqual(yield* subjects({ category: "marketing" }), ["100% off_er"])
      assert.deepStrictEqual(yield* subjects({ provider: "provider_b" }), ["1000 offXer"])
      assert.deepStrictEqual(yield* subjects({ recipient: "A@X.Test" }), ["Your receipt"])
      assert.deepStrictEqual(yield* subjects({ recipient: "Anna <a@x.test>" }), ["Your receipt"])
      assert.deepStrictEqual(yield* subjects({ recipient: "x.test" }), [])
      for (const recipient of ["copy@x.test", "Blind@x.test", "out@x.test"]) {
        assert.deepStrictEqual(yield* subjects({ recipient }), ["1000 offXer"], recipient)
      }
      assert.deepStrictEqual((yield* page({ recipient: "out@x.test" })).rows[0]?.dropped_addresses, [
        "out@x.test"
      ])
      assert.deepStrictEqual(yield* subjects({ subject: "RECEIPT" }), ["Your receipt"])
      assert.deepStrictEqual(yield* subjects({ subject: "0% off_" }), ["100% off_er"])
      assert.deepStrictEqual(yield* subjects({ subject: "receipt", provider: "provider_b" }), [])
      assert.deepStrictEqual(yield* subjects({ subject: "'; drop table email_log; --" }), [])
    })
  )

  it.effect("searches by one text: what it is exactly, else a part of an address or of the subject", () =>
    Effect.gen(function* () {
      yield* clean
      const key_hash = createHash("sha256").update("order/17").digest("hex")
      const id = "00000000-0000-7000-8000-000000000017"
      const attempts = JSON.stringify([{}, {}])
      yield* insert([
        { id, subject: "ann’s receipt", to_addresses: ["ann@x.test"], key_hash },
        { subject: "order/17 is late", to_addresses: ["ben@x.test"], other_addresses: ["joanna@y.test"] },
        {
          subject: "100% off_er",
          dropped_addresses: ["out@x.test"],
          provider: "provider_a",
          provider_message_id: "m-1",
          status: "deferred",
          retry_at: "2026-01-02T00:00:00Z",
          attempts
        }
      ])
      const found = (search: string) => Effect.map(subjects({ search }), (all) => all.toReversed())
      // A key that another subject has, too: exactly comes first.
      for (const [text, wanted] of [
        ["order/17", ["ann’s receipt"]],
        [id.toUpperCase(), ["ann’s receipt"]],
        ["Ann@x.test", ["ann’s receipt"]],
        ["m-1", ["100% off_er"]],
        ["out@x.test", ["100% off_er"]],
        ["ANN", ["ann’s receipt", "order/17 is late"]],
        ["y.test", ["order/17 is late"]],
        ["0% off_", ["100% off_er"]],
        ["off%", []],
        ["'; drop table email_log; --", []]
      ] as const)
        assert.deepStrictEqual([text, yield* found(text)], [text, [...wanted]])
      const [deferred] = (yield* page({ search: "m-1" })).rows
      assert.deepInclude(deferred, { retry_at: "2026-01-02T00:00:00.000000Z", attempt_count: 2 })
      const log = yield* EmailLogQuery
      assert.deepStrictEqual(yield* log.count({ search: "ann" }, 100), { count: 2 })
      const counts = (search: string | undefined) =>
        Effect.map(log.counts({ search, status: "sent" }, 2), (all) =>
          Object.fromEntries([...all.counts].filter(([, count]) => count > 0))
        )
      assert.deepStrictEqual(yield* counts(undefined), { sent: 2, deferred: 1 })
      assert.deepStrictEqual(yield* counts("ann"), { sent: 2 })
      assert.deepStrictEqual(yield* counts("m-1"), { deferred: 1 })
    })
  )

  it.effect(
    "pages newest first, each row once, though rows share a microsecond and new ones arrive meanwhile",
    () =>
      Effect.gen(function* () {
        yield* clean
        const times = [
          "2026-01-01T00:00:00.000001Z",
          "2026-01-01T00:00:00.000002Z",
          "2026-01-01T00:00:00.000002Z"
        ]
        yield* insert([0, 1, 2, 3, 4, 5, 6].map((n) => ({ subject: `s${n}`, created_at: times[n % 3] })))
        const seen: Array<string> = []
        let cursor: string | undefined
        do {
          const { rows, nextCursor } = yield* page({ limit: 2, cursor })
          seen.push(...rows.map(({ created_at, id }) => `${created_at} ${id}`))
          cursor = nextCursor ?? undefined
          yield* insert([{ subject: "new" }])
        } while (cursor !== undefined)
        assert.strictEqual(seen.length, 7)
        assert.strictEqual(new Set(seen).size, 7)
        assert.deepStrictEqual(seen, [...seen].sort().reverse())
      })
  )

  const key_hash = (key: string) => createHash("sha256").update(key).digest("hex")
  const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
  const all = Effect.fnUntraced(function* (
    filter: Partial<EmailLogFilter>,
    between: (pages: number) => Effect.Effect<unknown, unknown, WriteSql> = () => Effect.void
  ) {
    const seen: Array<readonly [subject: string | null, rows: number | undefined]> = []
    let cursor: string | undefined
    let pages = 0
    do {
      const read: EmailLogPage = yield* page({ ...filter, cursor })
      append(
        seen,
        read.rows.map(({ rows_of_mail, subject }) => [subject, rows_of_mail] as const)
      )
      cursor = read.nextCursor ?? undefined
      yield* between((pages += 1))
    } while (cursor !== undefined)
    return seen
  })

  it.effect("gives each mail once by its newest row, however its rows stand among those of others", () =>
    Effect.gen(function* () {
      yield* clean
      yield* insert([
        { subject: "a1", status: "failed", key_hash: key_hash("a"), created_at: at(1) },
        { subject: "b1", key_hash: key_hash("b"), created_at: at(2) },
        { subject: "a2", status: "failed", key_hash: key_hash("a"), created_at: at(3) },
        { subject: "none1", created_at: at(4) },
        { subject: "none2", created_at: at(4) },
        { subject: "a3", key_hash: key_hash("a"), created_at: at(5) }
      ])
      const found = yield* all({ by: "mail", limit: 1 })
      assert.deepStrictEqual(
        [found[0], ...found.slice(1, 3).toSorted(([a], [b]) => (a! < b! ? -1 : 1)), found[3]],
        [
          ["a3", 3],
          ["none1", 1],
          ["none2", 1],
          ["b1", 1]
        ]
      )
      // The filters are about the newest row: what failed and went out later has not failed.
      assert.deepStrictEqual(yield* all({ by: "mail", status: "failed" }), [])
      const log = yield* EmailLogQuery
      assert.deepStrictEqual(
        yield* Effect.all([log.count({ by: "mail" }, 100), log.count({ by: "mail" }, 2), log.count({}, 100)]),
        [{ count: 4 }, { count: 2 }, { count: 6 }]
      )
    })
  )

  it.effect("shows a mail once that gets another row while the pages are read", () =>
    Effect.gen(function* () {
      yield* clean
      yield* insert(
        ["a", "b", "c", "d"].map((name, n) => ({
          subject: `${name}1`,
          key_hash: key_hash(name),
          created_at: at(n)
        }))
      )
      const seen = yield* all({ by: "mail", limit: 1 }, (pages) =>
        insert([{ subject: `b${pages + 1}`, key_hash: key_hash("b") }])
      )
      assert.deepStrictEqual(
        seen.map(([subject]) => subject),
        ["d1", "c1", "b1", "a1"]
      )
      assert.strictEqual((yield* all({ by: "mail" }))[0]?.[0], "b5")
    })
  )

  it.effect("finds by source, and by a tag's name and value", () =>
    Effect.gen(function* () {
      yield* clean
      yield* insert([
        { subject: "1", source: "api:shop", tags: JSON.stringify({ order: "17", "a:b": "'" }) },
        { subject: "2", source: "api:shop2", tags: JSON.stringify({ order: "18" }) },
        { subject: "3", source: null, tags: null }
      ])
      const tag = (name: string, value?: string) => ({ tag: name, tagValue: value })
      assert.deepStrictEqual(yield* subjects({ source: "api:shop" }), ["1"])
      assert.deepStrictEqual(yield* subjects({ source: "API:shop" }), [])
      assert.deepStrictEqual(yield* subjects(tag("order")), ["2", "1"])
      assert.deepStrictEqual(yield* subjects(tag("order", "17")), ["1"])
      assert.deepStrictEqual(yield* subjects(tag("order", "1")), [])
      assert.deepStrictEqual(yield* subjects(tag("a:b", "'")), ["1"])
      assert.deepStrictEqual(yield* subjects(tag("17")), [])
      assert.deepStrictEqual(yield* subjects({ ...tag("order"), source: "api:shop2", by: "mail" }), ["2"])
      const log = yield* EmailLogQuery
      assert.deepStrictEqual(yield* log.count(tag("order"), 10), { count: 2 })
    })
  )

  it.effect("refuses a cursor by mail that it did not give out", () =>
    Effect.gen(function* () {
      const place = Buffer.from(
        JSON.stringify(["2026-01-01T00:00:00.000000Z", "00000000-0000-7000-8000-000000000000"])
      ).toString("base64url")
      const moment = "2026-01-01T00:00:00.000000Z"
      for (const cursor of [
        "",
        place,
        `now()~${place}`,
        `${moment}~`,
        `${moment}~${place}~${place}`,
        `~${place}`
      ])
        assert.strictEqual((yield* Effect.flip(page({ by: "mail", cursor })))._tag, "InvalidCursor", cursor)
      assert.deepStrictEqual((yield* page({ by: "mail", cursor: `${moment}~${place}` })).rows, [])
    })
  )

  it.effect("refuses a cursor that it did not give out", () =>
    Effect.gen(function* () {
      const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
      for (const cursor of [
        "",
        "x",
        forged({}),
        forged(["now()", "x"]),
        forged(["2026-01-01T00:00:00.000000Z", "1"])
      ]) {
        assert.strictEqual((yield* Effect.flip(page({ cursor })))._tag, "InvalidCursor", cursor)
      }
    })
  )
})

suiteLayer(layerReading(10).pipe(Layer.provideMerge(layerPostgres)))(
  "a part of a subject that no index answers (EVENT-60)",
  (it) => {
    const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
    const fill = Effect.gen(function* () {
      yield* clean
      yield* WriteSql.use((sql) => sql`drop index if exists email_log_subject`)
      // Every fifth has it, from the oldest on.
      yield* insert(
        Array.from({ length: 25 }, (_, n) => ({
          subject: n % 5 === 0 ? `Receipt ${n}` : `Order ${n}`,
          status: n % 2 === 0 ? "sent" : "failed",
          created_at: at(n)
        }))
      )
    })

    it.effect("is looked for in so many rows, and the cursor leads on behind them to the end", () =>
      Effect.gen(function* () {
        yield* fill
        const pages: Array<readonly [ReadonlyArray<string | null>, number | undefined, string | undefined]> =
          []
        let cursor: string | undefined
        do {
          const read = yield* page({ subject: "receipt", cursor })
          pages.push([read.rows.map(({ subject }) => subject), read.stoppedAfter, read.stoppedAt])
          cursor = read.nextCursor ?? undefined
        } while (cursor !== undefined)
        assert.deepStrictEqual(pages, [
          [["Receipt 20", "Receipt 15"], 10, "2026-01-01T00:15:00.000000Z"],
          [["Receipt 10", "Receipt 5"], 10, "2026-01-01T00:05:00.000000Z"],
          [["Receipt 0"], undefined, undefined]
        ])
        const log = yield* EmailLogQuery
        assert.deepStrictEqual(yield* log.count({ subject: "receipt" }, 100), { count: 2, stoppedAfter: 10 })
        assert.deepStrictEqual(yield* log.count({ subject: "receipt" }, 2), { count: 2 })
        assert.deepStrictEqual(yield* log.count({}, 100), { count: 25 })
      })
    )

    it.effect("is a page like any other where it is full, with the rows as they are", () =>
      Effect.gen(function* () {
        yield* fill
        const first = yield* page({ subject: "order", limit: 2 })
        assert.deepStrictEqual(
          first.rows.map(({ subject }) => subject),
          ["Order 24", "Order 23"]
        )
        assert.isUndefined(first.stoppedAfter)
        const second = yield* page({ subject: "order", limit: 2, cursor: first.nextCursor! })
        assert.deepStrictEqual(
          second.rows.map(({ subject }) => subject),
          ["Order 22", "Order 21"]
        )
        // The same row by another way.
        const [plain] = (yield* page({ limit: 1 })).rows
        assert.deepStrictEqual(first.rows[0], plain)
      })
    )

    it.effect("reads only rows that the other filters leave, and fewer of them where they lie apart", () =>
      Effect.gen(function* () {
        yield* fill
        const { nextCursor, rows, stoppedAfter } = yield* page({ subject: "receipt", status: "failed" })
        assert.deepStrictEqual([rows, stoppedAfter], [[], 1])
        const later = yield* page({ subject: "receipt", status: "failed", cursor: nextCursor! })
        assert.deepStrictEqual([later.rows, later.stoppedAfter], [[], 1])
        assert.deepStrictEqual((yield* page({ subject: "receipt", since: "2027-01-01" })).rows, [])
      })
    )
  }
)

const STATUSES = ["sent", "bounced", "failed"] as const
const CATEGORIES = ["auth", "alert"] as const
const PROVIDERS = ["provider_a", "provider_b"] as const
const maybe = <A>(values: ReadonlyArray<A>) => fc.option(fc.constantFrom(...values), { nil: undefined })

const logged = fc.record({
  status: fc.constantFrom(...STATUSES),
  category: fc.constantFrom(...CATEGORIES),
  provider: fc.constantFrom(...PROVIDERS),
  source: fc.constantFrom("api:shop", "api:desk"),
  subject: fc.constantFrom("Receipt", "Order"),
  key: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined })
})
type Logged = typeof logged extends fc.Arbitrary<infer A> ? A : never

const asked = fc.record({
  status: maybe(STATUSES),
  category: maybe(CATEGORIES),
  provider: maybe(PROVIDERS),
  source: maybe(["api:shop"]),
  subject: maybe(["rec"]),
  search: maybe(["ord", "nobody"]),
  key: maybe(["a"]),
  by: maybe(["mail"] as const)
})
type Asked = typeof asked extends fc.Arbitrary<infer A> ? A : never

/** What the port says of rows, the newest first. */
const matching = (rows: ReadonlyArray<Logged>, wanted: Asked): ReadonlyArray<number> => {
  const has = (row: Logged, part: string | undefined) =>
    part === undefined || row.subject.toLowerCase().includes(part)
  return rows.flatMap((row, at) => {
    const isSame = (["status", "category", "provider", "source", "key"] as const).every(
      (name) => wanted[name] === undefined || row[name] === wanted[name]
    )
    const isNewest =
      wanted.by !== "mail" || row.key === undefined || rows.findIndex(({ key }) => key === row.key) === at
    return isSame && isNewest && has(row, wanted.subject) && has(row, wanted.search) ? [at] : []
  })
}

suiteLayer(layerReading(10).pipe(Layer.provideMerge(layerPostgres)))(
  "a search that stops for now (EVENT-60)",
  (it) => {
    const write = (rows: ReadonlyArray<Logged>) =>
      insert(
        rows.map(({ key, ...row }, at) => ({
          ...row,
          error: String(at),
          key_hash: key === undefined ? null : createHash("sha256").update(key).digest("hex"),
          created_at: new Date(Date.UTC(2026, 0, 2) - at * 1000).toISOString()
        }))
      )

    const follow = Effect.fnUntraced(function* (wanted: Asked) {
      const found: Array<number> = []
      let cursor: string | undefined
      do {
        const read: EmailLogPage = yield* page({ ...wanted, limit: 3, cursor })
        assert.isAtMost(read.rows.length, 3)
        append(
          found,
          read.rows.map(({ error }) => Number(error))
        )
        // Where it stopped is said together with how far it came, and leads on.
        assert.strictEqual(read.stoppedAfter === undefined, read.stoppedAt === undefined)
        if (read.stoppedAt !== undefined) assert.isNotNull(read.nextCursor)
        cursor = read.nextCursor ?? undefined
      } while (cursor !== undefined)
      return found
    })

    /** A count that did not stop is right; one that did counts some of them. */
    const expectCount = (count: number, right: number, isStopped: boolean) =>
      isStopped ? assert.isAtMost(count, right) : assert.strictEqual(count, right)

    const holds = Effect.fnUntraced(function* (rows: ReadonlyArray<Logged>, wanted: Asked) {
      yield* clean
      yield* write(rows)
      const right = matching(rows, wanted)
      assert.deepStrictEqual(yield* follow(wanted), [...right])
      const log = yield* EmailLogQuery
      const counted = yield* log.count(wanted, 100)
      expectCount(counted.count, right.length, counted.stoppedAfter !== undefined)
      const { counts, stoppedAfter } = yield* log.counts(wanted, 100)
      const all = matching(rows, { ...wanted, status: undefined })
      for (const status of STATUSES) {
        const those = all.filter((at) => rows[at]?.status === status)
        expectCount(counts.get(status) ?? 0, those.length, stoppedAfter !== undefined)
      }
    })

    it.effect("its pages are all that matches, each once; what it counts is right, or said to be less", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<WriteSql | EmailLogQuery>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(logged, { maxLength: 24 }), asked, (rows, wanted) =>
              Effect.runPromiseWith(context)(holds(rows, wanted))
            ),
            { numRuns: 60 }
          )
        )
      })
    )

    it.effect("by status of one provider: counted among the newest", () =>
      Effect.gen(function* () {
        const row = (status: Logged["status"], provider: Logged["provider"]): Logged => ({
          status,
          provider,
          category: "auth",
          source: "api:shop",
          subject: "Order",
          key: undefined
        })
        yield* clean
        const others = Array.from({ length: 9 }, () => row("sent", "provider_a"))
        yield* write([...others, row("sent", "provider_b"), row("bounced", "provider_b")])
        const { counts, stoppedAfter } = yield* EmailLogQuery.use((log) =>
          log.counts({ provider: "provider_b" }, 100)
        )
        assert.deepStrictEqual([counts.get("sent"), counts.get("bounced") ?? 0, stoppedAfter], [1, 0, 10])
      })
    )
  }
)
