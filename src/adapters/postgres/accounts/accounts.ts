import { Effect, Layer, Schema } from "effect"

import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { Accounts } from "../../../ports/accounts/accounts.ts"
import { boundedBy } from "../answered.ts"
import { ReadSql, WriteSql } from "../client.ts"

/** Time limit of one statement; erasing reads the send log. */
const TIME_LIMIT = "10 seconds"

const bounded = boundedBy(TIME_LIMIT, "accounts")

const decodeClosed = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ email: Schema.String, deleted_at: Schema.Date }))
)

const decodeFunds = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      id: Schema.String,
      email: Schema.String,
      name: Schema.NullOr(Schema.String),
      plan: Schema.Literals(["free", "paid"]),
      left: Schema.Int,
      held: Schema.Int
    })
  )
)

/** Accounts in Postgres. */
export const layer: Layer.Layer<Accounts, never, ReadSql | WriteSql> = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const readSql = yield* ReadSql
    const sql = yield* WriteSql
    return Accounts.of({
      funds: (customerId) =>
        bounded(
          // `available_funds` is what can be spent, the same as at spending time; the total minus that is what is held.
          readSql`select c.id, c.email, c.name, f.plan, greatest(l.remaining, 0) as left, l.whole - l.remaining as held
            from customers c
            cross join lateral available_funds(c.id) f
            cross join lateral (
              select
                case when f.plan = 'paid' then f.credits else f.free_pages end as remaining,
                case when f.plan = 'paid' then coalesce(c.credits_remaining, 0)
                  else ${FREE_LIFETIME_PAGES}::integer - c.lifetime_free_pages_used end as whole
            ) l
            where c.id = ${customerId}::uuid and c.deleted_at is null`.pipe(Effect.flatMap(decodeFunds))
        ).pipe(
          Effect.map(([row]) => {
            if (row === undefined) return undefined
            const { email, held, id, left, name, plan } = row
            return {
              id,
              email,
              name,
              planType: plan,
              creditsRemaining: plan === "paid" ? left : null,
              freePagesLeft: plan === "free" ? left : null,
              heldCredits: held
            }
          })
        ),
      close: (customerId) =>
        bounded(
          sql`select email, deleted_at from close_account(${customerId}::uuid)`.pipe(
            Effect.flatMap(decodeClosed)
          )
        ).pipe(
          Effect.map(([row]) =>
            row === undefined ? undefined : { email: row.email, deletedAt: row.deleted_at.toISOString() }
          )
        ),
      erase: ({ actor, email }) =>
        bounded(sql<{ readonly found: boolean }>`select erase_person(${email}, ${actor}) as found`).pipe(
          Effect.map((rows) => rows[0]?.found === true)
        )
    })
  })
)
