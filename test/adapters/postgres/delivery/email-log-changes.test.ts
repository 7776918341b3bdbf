import { assert, layer as suiteLayer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer, layerReading } from "../../../../src/adapters/postgres/delivery/email-log-query.ts"
import { EmailLogQuery, type EmailLogChanges } from "../../../../src/ports/delivery/email-log-query.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const LONG_AGO = "2000-01-01T00:00:00Z"

const changes = (filter: Partial<EmailLogChanges> = {}) =>
  EmailLogQuery.use((log) => log.changes({ limit: 50, changedSince: LONG_AGO, ...filter }))

/** Reads on until there is no next page: the subjects, and where the next look begins. */
const follow = Effect.fnUntraced(function* (changedSince: string, filter: Partial<EmailLogChanges> = {}) {
  const subjects: Array<string> = []
  let cursor: string | undefined
  let until: string
  do {
    const read: Effect.Success<ReturnType<typeof changes>> = yield* changes({
      ...filter,
      changedSince,
      cursor
    })
    for (const { subject } of read.rows) subjects.push(subject ?? "")
    cursor = read.nextCursor ?? undefined
    until = read.changedUntil
  } while (cursor !== undefined)
  return { subjects, until }
})

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
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()

/** A transaction that writes a row and stays open until `end`. */
const lateWriter = Effect.fnUntraced(function* (subject: string, ago: string) {
  const written = yield* Deferred.make<void>()
  const end = yield* Deferred.make<void>()
  const writing = yield* WriteSql.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* insert([{ subject }])
        yield* sql.unsafe(
          `update email_log set updated_at = now() - interval '${ago}' where subject = '${subject}'`
        )
        yield* Deferred.succeed(written, undefined)
        yield* Deferred.await(end)
      })
    )
  ).pipe(Effect.forkScoped)
  yield* Deferred.await(written)
  return Deferred.succeed(end, undefined).pipe(Effect.andThen(Fiber.join(writing)))
})

/** Until what has been committed so far is given where nobody writes. */
const passed = WriteSql.use((sql) =>
  Effect.gen(function* () {
    const now = (yield* sql<{ at: Date }>`select clock_timestamp() as at`)[0]!.at
    const isOver = sql<{
      over: boolean
    }>`select clock_timestamp() > ${now}::timestamptz + interval '1.1 seconds' as over`
    yield* Effect.repeat(isOver, { until: ([row]) => row?.over === true })
  })
)

suiteLayer(layer.pipe(Layer.provideMerge(layerPostgres)))("the log by its changes (EVENT-66)", (it) => {
  it.effect(
    "gives what changed since a moment in the order of the changes, by pages, and where to go on",
    () =>
      Effect.gen(function* () {
        yield* clean
        yield* insert([3, 1, 2, 2, 2].map((n, index) => ({ subject: `${n}${index}`, updated_at: at(n) })))
        const found = yield* follow(LONG_AGO, { limit: 2 })
        assert.deepStrictEqual(
          found.subjects.map((subject) => subject[0]),
          ["1", "2", "2", "2", "3"]
        )
        assert.strictEqual(new Set(found.subjects).size, 5)
        assert.deepStrictEqual((yield* follow(at(2))).subjects.length, 4)
        assert.deepStrictEqual((yield* follow(found.until)).subjects, [])
        assert.isTrue(found.until > at(3))
      })
  )

  it.effect("gives a row again that changes behind the reader, and filters", () =>
    Effect.gen(function* () {
      yield* clean
      yield* insert([
        { subject: "a", updated_at: at(1), status: "bounced" },
        { subject: "b", updated_at: at(2) },
        { subject: "c", updated_at: at(3), status: "bounced", source: "api:shop" }
      ])
      const first = yield* changes({ limit: 1 })
      assert.deepStrictEqual(
        first.rows.map(({ subject }) => subject),
        ["a"]
      )
      yield* WriteSql.use(
        (sql) => sql`update email_log set updated_at = ${at(4)}::timestamptz where subject = 'a'`
      )
      const rest = yield* changes({ cursor: first.nextCursor! })
      assert.deepStrictEqual(
        rest.rows.map(({ subject }) => subject),
        ["b", "c", "a"]
      )
      assert.deepStrictEqual((yield* follow(LONG_AGO, { status: "bounced" })).subjects, ["c", "a"])
      assert.deepStrictEqual((yield* follow(LONG_AGO, { source: "api:shop" })).subjects, ["c"])
    })
  )

  it.effect("leaves nothing out that a transaction commits late, which began before the look", () =>
    Effect.gen(function* () {
      yield* clean
      const end = yield* lateWriter("late", "0")
      yield* insert([{ subject: "early" }])
      yield* passed
      // The later change has been committed; it is not given before the earlier one.
      const before = yield* follow(LONG_AGO)
      assert.deepStrictEqual(before.subjects, [])
      yield* end
      yield* passed
      const after = yield* follow(before.until)
      assert.deepStrictEqual(after.subjects.sort(), ["early", "late"])
    })
  )

  it.effect("is a second behind where nobody writes", () =>
    Effect.gen(function* () {
      const { changedUntil } = yield* changes()
      assert.isBelow(Date.now() - Date.parse(changedUntil), 30_000)
    })
  )

  it.effect("refuses a cursor that it did not give out", () =>
    Effect.gen(function* () {
      for (const cursor of ["", "x", "e30"])
        assert.strictEqual((yield* Effect.flip(changes({ cursor })))._tag, "InvalidCursor", cursor)
    })
  )
})

suiteLayer(layerReading(10).pipe(Layer.provideMerge(layerPostgres)))(
  "changes that few filters match",
  (it) => {
    it.effect("are looked for in so many rows, and the cursor leads on behind them to the end", () =>
      Effect.gen(function* () {
        yield* clean
        yield* insert(
          Array.from({ length: 25 }, (_, n) => ({
            subject: `${n}`,
            status: n % 12 === 0 ? "failed" : "sent",
            updated_at: at(n)
          }))
        )
        const first = yield* changes({ status: "failed" })
        assert.deepStrictEqual([first.rows.map(({ subject }) => subject), first.stoppedAfter], [["0"], 10])
        assert.deepStrictEqual((yield* follow(LONG_AGO, { status: "failed" })).subjects, ["0", "12", "24"])
      })
    )
  }
)
