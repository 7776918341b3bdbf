import { randomUUID } from "node:crypto"

import { Effect, Layer } from "effect"

import { CustomerId } from "../../../domain/ids.ts"
import {
  type CreditMove,
  Customers,
  type CustomerRow,
  type Debited,
  type Granted
} from "../../../ports/accounts/customers.ts"
import { newestFirst } from "../documents/page.ts"
import type { CustomerRow as StoredCustomer } from "../documents/rows.ts"
import { type Documents, isoOf, isoOrNull, MemoryDocuments, transaction } from "../documents/state.ts"
import { addCustomer, fundsOf } from "./accounts.ts"
import { availableFunds } from "./funds.ts"

/** The largest `integer` of PostgreSQL. */
const MAX_CREDITS = 2_147_483_647

const toRow = (db: Documents, customer: StoredCustomer): CustomerRow => ({
  ...fundsOf(db, customer),
  createdAt: isoOf(customer.createdAt),
  closedAt: isoOrNull(customer.deletedAt)
})

const byEmail = (db: Documents, email: string) => db.customers.find((one) => one.email === email)

/** `add_customer`. */
const add = (
  db: Documents,
  { email, name }: { readonly email: string; readonly name: string | undefined }
) => {
  const known = byEmail(db, email)
  if (known === undefined) {
    addCustomer(db, {
      id: CustomerId.make(randomUUID()),
      email,
      name: name ?? null,
      plan: "free",
      credits: 0
    })
    return "added" as const
  }
  if (known.deletedAt === null) return "exists" as const
  db.customers.update(known.id, { deletedAt: null, name: name ?? known.name })
  return "reopened" as const
}

/** `grant_credits`. */
const grant = (db: Documents, { credits, customerId, reference }: CreditMove): Granted => {
  const customer = db.customers.get(customerId)
  if (customer === undefined || customer.deletedAt !== null) return "not_found"
  const known = db.grants.get(`${customerId} ${reference}`)
  if (known !== undefined) return known.credits === credits ? "repeated" : "reference_taken"
  if (customer.credits + credits > MAX_CREDITS) return "too_many"
  db.grants.insert({ customerId, credits, reference, createdAt: db.moment() })
  db.customers.update(customerId, { plan: "paid", credits: customer.credits + credits })
  return "granted"
}

/** `debit_credits`. */
const debit = (db: Documents, { credits, customerId, reference }: CreditMove): Debited => {
  const customer = db.customers.get(customerId)
  if (customer === undefined || customer.deletedAt !== null) return "not_found"
  const known = db.grants.get(`${customerId} ${reference}`)
  if (known !== undefined) return known.credits === -credits ? "repeated" : "reference_taken"
  if ((availableFunds(db, customerId)?.credits ?? 0) < credits) return "insufficient"
  db.grants.insert({ customerId, credits: -credits, reference, createdAt: db.moment() })
  db.customers.update(customerId, { credits: customer.credits - credits })
  return "debited"
}

/** Customers in memory, which keeps no audit log. */
export const layer: Layer.Layer<Customers, never, MemoryDocuments> = Layer.effect(
  Customers,
  Effect.map(MemoryDocuments, (documents) =>
    Customers.of({
      add: (customer) => transaction(documents, (db) => add(db, customer)),
      find: (email) =>
        transaction(documents, (db) => {
          const customer = byEmail(db, email)
          return customer && toRow(db, customer)
        }),
      page: Effect.fnUntraced(function* ({ search = "", ...page }) {
        const wanted = search.toLowerCase()
        const { nextCursor, rows } = yield* newestFirst(
          documents.customers.where(
            ({ email, name }) =>
              !email.startsWith("erased:") && `${email} ${name ?? ""}`.toLowerCase().includes(wanted)
          ),
          page
        )
        return yield* transaction(documents, (db) => ({
          rows: rows.map((customer) => toRow(db, customer)),
          nextCursor
        }))
      }),
      grant: (given) => transaction(documents, (db) => grant(db, given)),
      debit: (taken) => transaction(documents, (db) => debit(db, taken))
    })
  )
)
