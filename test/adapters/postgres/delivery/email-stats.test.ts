import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/email-stats.ts"
import { EmailStats } from "../../../../src/ports/delivery/email-log-query.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const layerStats = Layer.fresh(layer.pipe(Layer.provideMerge(layerPostgres)))

/** Moments on both sides of midnight, UTC, `days` before today. */
const insert = (days: number, time: string, values: Record<string, unknown> = {}) =>
  WriteSql.use((sql) =>
    sql`with made as (
      insert into email_log ${sql.insert({ category: "transactional", status: "sent", provider: "provider_a", ...values })}
      returning id
    ) select id from made`.pipe(
      Effect.flatMap(
        ([row]) => sql`update email_log set created_at = (
          (now() at time zone 'UTC')::date - ${days}::int + ${time}::text::time) at time zone 'UTC' where id = ${row!["id"]}`
      )
    )
  )

const since = (days: number) => EmailStats.use((stats) => stats.since(days))

describe("the statistics on PostgreSQL", () => {
  it.live("an empty log has its first day and nothing else", () =>
    Effect.gen(function* () {
      const one = yield* since(1)
      assert.deepStrictEqual(one, { from: new Date().toISOString().slice(0, 10), stats: [] })
      assert.isBelow(Date.parse((yield* since(366)).from), Date.parse(one.from) - 364 * 86_400_000)
    }).pipe(Effect.provide(layerStats))
  )

  it.live("counts by UTC day, category, provider and status, within the days asked for", () =>
    Effect.gen(function* () {
      yield* insert(0, "00:00:00", { cost_usd: 0.0004, failed_over: true })
      yield* insert(0, "00:00:00.000001", { cost_usd: 0.0004 })
      yield* insert(1, "23:59:59.999999", { status: "bounced" })
      yield* insert(1, "00:00:00", { category: "unknown", provider: null, status: "failed" })
      yield* insert(2, "23:59:59.999999")
      const { from, stats } = yield* since(2)
      const day = (back: number) =>
        new Date(Date.parse(from) + (1 - back) * 86_400_000).toISOString().slice(0, 10)
      assert.deepStrictEqual(stats, [
        {
          day: day(0),
          category: "transactional",
          provider: "provider_a",
          status: "sent",
          count: 2,
          failedOver: 1,
          undelivered: 0,
          costUsd: 0.0008
        },
        {
          day: day(1),
          category: "transactional",
          provider: "provider_a",
          status: "bounced",
          count: 1,
          failedOver: 0,
          undelivered: 0,
          costUsd: 0
        },
        {
          day: day(1),
          category: "unknown",
          provider: null,
          status: "failed",
          count: 1,
          failedOver: 0,
          undelivered: 0,
          costUsd: 0
        }
      ])
      assert.strictEqual((yield* since(3)).stats.length, 4)
      assert.strictEqual((yield* since(1)).stats.length, 1)
    }).pipe(Effect.provide(layerStats))
  )
})
