import { Effect, Layer } from "effect"

import type { CustomerId } from "../../../domain/ids.ts"
import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { greatest } from "../../../domain/lists.ts"
import { type AccountFunds, Accounts } from "../../../ports/accounts/accounts.ts"
import type { CustomerRow } from "../documents/rows.ts"
import { type Documents, MemoryDocuments, transaction } from "../documents/state.ts"
import { Refused } from "../documents/table.ts"
import { erasedAlias, eraseFromMails } from "../inbound/upkeep.ts"
import { makeMoves } from "./funds-moves.ts"
import { availableFunds } from "./funds.ts"

/** A new customer. One who was erased has the free pages of then (`recall_free_pages`). */
export const addCustomer = (
  db: Documents,
  customer: Pick<CustomerRow, "id" | "email" | "plan" | "credits"> & Partial<CustomerRow>
): CustomerRow => {
  if (db.customers.find(({ email }) => email === customer.email) !== undefined)
    throw new Refused("there is a customer with this address already")
  const erased = db.customers.where(({ email }) => email.startsWith(`${erasedAlias(customer.email)}:`))
  const freePagesUsed = Math.max(
    customer.freePagesUsed ?? 0,
    greatest(erased.map((row) => row.freePagesUsed))
  )
  return db.customers.insert({
    name: null,
    createdAt: db.moment(),
    deletedAt: null,
    ...customer,
    freePagesUsed
  })
}

/** What a customer can spend, whether or not the account is open. */
export const fundsOf = (db: Documents, customer: CustomerRow): AccountFunds => {
  const spendable = availableFunds(db, customer.id) ?? { plan: customer.plan, credits: 0, freePages: 0 }
  const isPaid = spendable.plan === "paid"
  const remaining = isPaid ? spendable.credits : spendable.freePages
  const whole = isPaid ? customer.credits : FREE_LIFETIME_PAGES - customer.freePagesUsed
  const left = Math.max(remaining, 0)
  return {
    id: customer.id,
    email: customer.email,
    name: customer.name,
    planType: spendable.plan,
    creditsRemaining: isPaid ? left : null,
    freePagesLeft: isPaid ? null : left,
    heldCredits: whole - remaining
  }
}

/** `close_account`: what it does to a customer. */
const close = (db: Documents, customerId: CustomerId) => {
  const customer = db.customers.get(customerId)
  if (customer === undefined || customer.deletedAt !== null) return undefined
  const deletedAt = db.moment()
  db.customers.update(customerId, { deletedAt, name: null })
  return { email: customer.email, deletedAt: new Date(Math.floor(deletedAt / 1000)).toISOString() }
}

/** `erase_person`: what it does to mails under way and to the customer. */
const erase = (db: Documents, email: string): boolean => {
  const inMails = eraseFromMails(db, email)
  const customer = db.customers.find((one) => one.email === email)
  if (customer === undefined) return inMails
  close(db, customer.id)
  db.customers.update(customer.id, { email: `${erasedAlias(email)}:${customer.id}`, name: null })
  return true
}

/** Accounts in memory: their funds, and what closing and erasing do to documents. Sign-ins and the send log are elsewhere. */
export const makeAccounts = (documents: Documents): Accounts["Service"] =>
  Accounts.of({
    funds: (customerId) =>
      transaction(documents, (db) => {
        const customer = db.customers.get(customerId)
        return customer?.deletedAt === null ? fundsOf(db, customer) : undefined
      }),
    ...makeMoves(documents, (read) => transaction(documents, read)),
    close: (customerId) => transaction(documents, (db) => close(db, customerId)),
    erase: ({ email }) => transaction(documents, (db) => erase(db, email))
  })

export const layer: Layer.Layer<Accounts, never, MemoryDocuments> = Layer.effect(
  Accounts,
  Effect.map(MemoryDocuments, makeAccounts)
)
