import { Effect, Layer, Schema } from "effect"

import { CustomerId } from "../../../domain/ids.ts"
import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { type AccountFunds, Accounts } from "../../../ports/accounts/accounts.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { IsoTime, TextOrNull } from "../values.ts"
import { movesOn } from "./funds-moves.ts"

/** Erasing reads the send log. */
const ask = statements({ within: "10 seconds" })

const Closed = Schema.Struct({ email: Schema.String, deletedAt: IsoTime })

export const FundsRow = Schema.Struct({
  id: CustomerId,
  email: Schema.String,
  name: TextOrNull,
  planType: Schema.Literals(["free", "paid"]),
  remaining: Schema.Int,
  heldCredits: Schema.Int
})

/**
 * What an account can spend: `available_funds` is what can be spent, the same as at spending time; the total minus that is
 * what is held.
 */
export const FUNDS_COLUMNS = `c.id, c.email, c.name, f.plan as plan_type, greatest(l.remaining, 0) as remaining,
l.whole - l.remaining as held_credits`
export const FUNDS_FROM = `customers c
cross join lateral available_funds(c.id) f
cross join lateral (
  select
    case when f.plan = 'paid' then f.credits else f.free_pages end as remaining,
    case when f.plan = 'paid' then coalesce(c.credits_remaining, 0)
      else ${FREE_LIFETIME_PAGES} - c.lifetime_free_pages_used end as whole
) l`

export const fundsOf = ({ remaining, ...row }: typeof FundsRow.Type): AccountFunds => ({
  ...row,
  creditsRemaining: row.planType === "paid" ? remaining : null,
  freePagesLeft: row.planType === "free" ? remaining : null
})

/** Accounts in Postgres. */
export const layer: Layer.Layer<Accounts, never, ReadSql | WriteSql> = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const readSql = yield* ReadSql
    const sql = yield* WriteSql
    return Accounts.of({
      funds: (customerId) =>
        Effect.map(
          ask.first(
            "funds",
            FundsRow,
            readSql.unsafe(
              `select ${FUNDS_COLUMNS} from ${FUNDS_FROM} where c.id = $1::uuid and c.deleted_at is null`,
              [customerId]
            )
          ),
          (row) => row && fundsOf(row)
        ),
      ...movesOn(readSql),
      close: (customerId) =>
        ask.first(
          "closeAccount",
          Closed,
          sql`select email, deleted_at from close_account(${customerId}::uuid)`
        ),
      erase: ({ actor, email }) =>
        ask.answer("erasePerson", Schema.Boolean, sql`select erase_person(${email}, ${actor}) as answer`)
    })
  })
)
