import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"

import { layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { isAboutData, statements } from "../../../src/adapters/postgres/statement.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

const ask = statements()

const lost = new SqlError({
  reason: new ConnectionError({ cause: new Error("connection reset"), message: "lost" })
})
const refused = new SqlError({
  reason: new UnknownError({ cause: new Error("no such table"), message: "no" })
})

/** A statement that fails so often before it answers, and how often it was run. */
const failing = (times: number, error: SqlError) => {
  const runs = { count: 0 }
  const statement = Effect.suspend(() => {
    runs.count += 1
    return runs.count <= times ? Effect.fail(error) : Effect.succeed([{ answer: 1 }])
  })
  return { runs, statement }
}

describe("a statement", () => {
  it.effect("that may be repeated is repeated where the connection was lost, twice at most", () =>
    Effect.gen(function* () {
      const repeatable = statements({ repeatable: true })
      for (const [times, expected] of [
        [2, "an answer"],
        [3, "connection reset"]
      ] as const) {
        const { runs, statement } = failing(times, lost)
        const asked = yield* Effect.forkChild(
          repeatable.answer("test", Schema.Int, statement).pipe(
            Effect.as("an answer"),
            Effect.catch(({ reason }) => Effect.succeed(reason))
          )
        )
        yield* TestClock.adjust("100 millis")
        assert.strictEqual(yield* Fiber.join(asked), expected)
        assert.strictEqual(runs.count, 3)
      }
    })
  )

  it.effect("is not repeated where it may not be, or where it would fail the same way", () =>
    Effect.gen(function* () {
      for (const [one, error] of [
        [ask, lost],
        [statements({ repeatable: true }), refused]
      ] as const) {
        const { runs, statement } = failing(1, error)
        const failure = yield* Effect.flip(one.done("save", statement))
        assert.strictEqual(runs.count, 1)
        assert.deepInclude(failure, { operation: "save", isRetryable: error === lost })
      }
    })
  )

  it.effect("without an answer fails in time, and says so", () =>
    Effect.gen(function* () {
      const asked = yield* Effect.forkChild(Effect.flip(ask.done("claimChunk", Effect.never)))
      yield* TestClock.adjust("8 seconds")
      assert.deepInclude(yield* Fiber.join(asked), {
        operation: "claimChunk",
        reason: "no answer within 8 seconds",
        isRetryable: true
      })
    })
  )

  it.live("on a server that is away says that the connection was refused", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const failure = yield* Effect.flip(ask.done("check", sql`select 1`))
      assert.include(failure.reason, "ECONNREFUSED")
      assert.isTrue(failure.isRetryable)
    }).pipe(Effect.provide(Layer.fresh(layerSingle({ url: Redacted.make("postgres://x@127.0.0.1:1/x") }))))
  )
})

layer(layerPostgres)("a statement on PostgreSQL", (test) => {
  test.effect("names columns in camel case and leaves the keys of JSON as they are", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const Row = Schema.Struct({ sentAt: Schema.Int, rawValue: Schema.Json })
      const statement = sql`select 1 as sent_at, '{"a_b": {"c_d": 1}}'::jsonb as raw_value`
      const expected = { sentAt: 1, rawValue: { a_b: { c_d: 1 } } }
      assert.deepStrictEqual(yield* ask.rows("test", Row, statement), [expected])
      assert.deepStrictEqual(yield* ask.first("test", Row, statement), expected)
      assert.deepStrictEqual(yield* ask.one("test", Row, statement), expected)
      assert.deepStrictEqual(yield* ask.stored("test", sql`select 1 as sent_at`), [{ sent_at: 1 }])
    })
  )

  test.effect("without a row is nothing, or a failure where there must be one", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const none = sql`select 1 as answer where false`
      assert.isUndefined(yield* ask.first("test", Schema.Unknown, none))
      const failure = yield* Effect.flip(ask.answer("test", Schema.Int, none))
      assert.deepInclude(failure, { reason: "the statement gave no row", isRetryable: false })
    })
  )

  test.effect("whose function was dropped by an upgrade meanwhile comes again", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const dropped = yield* Effect.flip(ask.done("test", sql`select no_such_function()`))
      assert.deepInclude(dropped, { isRetryable: true, isAboutData: false })
    })
  )

  test.effect("tells a fault of its values from a store that is away", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const divided = yield* Effect.flip(ask.done("test", sql`select 1 / 0`))
      assert.deepInclude(divided, { reason: "division by zero", isRetryable: false })
      assert.isTrue(isAboutData(divided))
      const tooLong = sql`do $$ begin raise exception 'too long for an index' using errcode = '54000'; end $$`
      assert.isTrue(isAboutData(yield* Effect.flip(ask.done("test", tooLong))))
      const undecodable = yield* Effect.flip(ask.answer("test", Schema.Int, sql`select 'x' as answer`))
      assert.isFalse(undecodable.isRetryable)
      assert.isFalse(isAboutData(undecodable))
    })
  )
})
