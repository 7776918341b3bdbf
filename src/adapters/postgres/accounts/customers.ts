import { Effect, Layer, Schema } from "effect"

import { Customers, type CustomerRow } from "../../../ports/accounts/customers.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { slowReads, statements } from "../statement.ts"
import { storable, storableOrNull, TextOrNull, timeColumn } from "../values.ts"
import { FUNDS_COLUMNS, FUNDS_FROM, fundsOf, FundsRow } from "./accounts.ts"

const ask = statements({ within: "5 seconds" })

const Row = Schema.Struct({ ...FundsRow.fields, createdAt: Schema.String, closedAt: TextOrNull })

const COLUMNS = `${FUNDS_COLUMNS}, ${timeColumn("created_at", "c.created_at")}, ${timeColumn("closed_at", "c.deleted_at")}`

const toRow = ({ closedAt, createdAt, ...row }: typeof Row.Type): CustomerRow => ({
  ...fundsOf(row),
  createdAt,
  closedAt
})

const Added = Schema.Literals(["added", "reopened", "exists"])
const Debited = Schema.Literals(["debited", "repeated", "reference_taken", "insufficient", "not_found"])
const Granted = Schema.Literals(["granted", "repeated", "reference_taken", "too_many", "not_found"])

/** Customers in Postgres. */
export const layer: Layer.Layer<Customers, never, SlowSql | WriteSql> = Layer.effect(
  Customers,
  Effect.gen(function* () {
    const slow = yield* SlowSql
    const sql = yield* WriteSql
    return Customers.of({
      add: ({ actor, email, name }) =>
        ask.answer(
          "addCustomer",
          Added,
          sql`select add_customer(${email}, ${storableOrNull(name)}, ${storable(actor)}) as answer`
        ),
      find: (email) =>
        Effect.map(
          ask.first(
            "findCustomer",
            Row,
            slow.unsafe(`select ${COLUMNS} from ${FUNDS_FROM} where c.email = $1`, [storable(email)])
          ),
          (row) => row && toRow(row)
        ),
      page: ({ cursor, limit, search }) =>
        newestFirst(
          (text, parameters) => slowReads.stored("customers", slow.unsafe<StoredRow>(text, parameters)),
          {
            from: FUNDS_FROM,
            name: "c",
            columns: COLUMNS,
            conditions: (bind) => [
              "c.email not like 'erased:%'",
              ...(search === undefined
                ? []
                : [
                    `strpos(lower(c.email || ' ' || coalesce(c.name, '')), lower(${bind(storable(search))}::text)) > 0`
                  ])
            ],
            limit,
            cursor
          }
        ).pipe(
          Effect.flatMap(decodedPage("customers", Row)),
          Effect.map(({ nextCursor, rows }) => ({ rows: rows.map(toRow), nextCursor }))
        ),
      grant: ({ actor, credits, customerId, note, reference }) =>
        ask.answer(
          "grantCredits",
          Granted,
          sql`select grant_credits(${customerId}::uuid, ${credits}, ${storable(reference)}, ${storable(actor)},
            ${storableOrNull(note)}) as answer`
        ),
      debit: ({ actor, credits, customerId, note, reference }) =>
        ask.answer(
          "debitCredits",
          Debited,
          sql`select debit_credits(${customerId}::uuid, ${credits}, ${storable(reference)}, ${storable(actor)},
            ${storableOrNull(note)}) as answer`
        )
    })
  })
)
