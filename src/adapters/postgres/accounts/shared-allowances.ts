import { createHash } from "node:crypto"

import { Duration, Effect, Layer, Schema } from "effect"

import { SharedAllowances } from "../../../ports/shared-allowances.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { Absent } from "../values.ts"

/** A request waits for it: without an answer the process counts for itself. */
const ask = statements({ within: "300 millis" })

/** A key may name an address or a person; the table keeps neither. */
const hashOf = (key: string) => createHash("sha256").update(key).digest("base64url")

const Taken = Schema.Struct({ taken: Schema.Boolean, waitMs: Absent(Schema.Number) })

/**
 * Allowances in one guarded upsert each (the generic cell rate algorithm): a row keeps the moment when all of the allowance is
 * free again. A call that uses `amount` moves it by that share of the window, unless that would lead further than a window
 * from now.
 */
export const layer: Layer.Layer<never, never, WriteSql> = Layer.effect(
  SharedAllowances,
  Effect.map(WriteSql, (sql) => ({
    take: ({ amount = 1, key, limit, window: given }) => {
      const window = Duration.fromInputUnsafe(given)
      if (amount > limit) return Effect.succeed(window)
      const [share, whole] = [
        `${(Duration.toMillis(window) * amount) / limit} milliseconds`,
        `${Duration.toMillis(window)} milliseconds`
      ]
      const hash = hashOf(key)
      return Effect.map(
        ask.one(
          "take",
          Taken,
          sql`with taken as (
            insert into allowances as a (key, free_at) values (${hash}, clock_timestamp() + ${share}::interval)
            on conflict (key) do update
              set free_at = greatest(a.free_at, excluded.free_at - ${share}::interval) + ${share}::interval
              where greatest(a.free_at, excluded.free_at - ${share}::interval) + ${share}::interval * 2
                <= excluded.free_at + ${whole}::interval
            returning key
          )
          select exists (select from taken) as taken, (
            select extract(epoch from a.free_at + ${share}::interval - ${whole}::interval - clock_timestamp())::float8 * 1000
            from allowances a where a.key = ${hash}
          ) as wait_ms`
        ),
        ({ taken, waitMs }) => (taken ? undefined : Duration.millis(Math.max(0, waitMs ?? 0)))
      )
    }
  }))
)
