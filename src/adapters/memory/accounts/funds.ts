import type { Duration } from "effect"

import type { WorkId, CustomerId } from "../../../domain/ids.ts"
import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import type { HoldRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"

/** What a customer can spend (DOC-30): one of the two is 0, by the plan. */
interface Funds {
  readonly plan: "free" | "paid"
  readonly credits: number
  readonly freePages: number
}

/** Credits or free pages, of a hold or of what is available. */
export const amountOf = ({ credits, freePages }: Pick<Funds, "credits" | "freePages">): number =>
  Math.max(credits, freePages)

/** `available_funds`: what no live hold sets aside; the hold `butFor` is not counted. */
export const availableFunds = (db: Documents, customerId: CustomerId, butFor?: string): Funds | undefined => {
  const customer = db.customers.get(customerId)
  if (customer === undefined) return undefined
  const now = db.moment()
  let [credits, freePages] = [customer.credits, FREE_LIFETIME_PAGES - customer.freePagesUsed]
  const isLive = (hold: HoldRow) =>
    hold.customerId === customerId && hold.state === "held" && hold.expiresAt > now && hold.jobId !== butFor
  for (const hold of db.holds.where(isLive)) {
    credits -= hold.credits
    freePages -= hold.freePages
  }
  return customer.plan === "paid"
    ? { plan: "paid", credits, freePages: 0 }
    : { plan: "free", credits: 0, freePages }
}

type Amount = Pick<Funds, "credits" | "freePages">

/**
 * `hold_currency`: so many pages of a hold in what they can be paid, as the customer's plan has it now, else as they were set aside under
 * the plan before; undefined where neither suffices.
 */
const amountInPlan = (db: Documents, hold: HoldRow, pages: number): Amount | undefined => {
  const customer = db.customers.get(hold.customerId)
  if (customer === undefined) return undefined
  const now = db.moment()
  const others = db.holds.where(
    ({ customerId, expiresAt, jobId, state }) =>
      customerId === customer.id && state === "held" && expiresAt > now && jobId !== hold.jobId
  )
  const leftOf = (all: number, held: (one: HoldRow) => number) =>
    others.reduce((left, one) => left - held(one), all)
  const inCredits = {
    left: leftOf(customer.credits, ({ credits }) => credits),
    isHeld: hold.credits > 0,
    amount: { credits: pages, freePages: 0 }
  }
  const inFreePages = {
    left: leftOf(FREE_LIFETIME_PAGES - customer.freePagesUsed, ({ freePages }) => freePages),
    isHeld: hold.freePages > 0,
    amount: { credits: 0, freePages: pages }
  }
  const [ofPlan, other] = customer.plan === "paid" ? [inCredits, inFreePages] : [inFreePages, inCredits]
  if (pages === 0 || ofPlan.left >= pages) return ofPlan.amount
  return other.isHeld && other.left >= pages ? other.amount : undefined
}

/** `place_hold`: sets funds aside; false where they do not suffice, or were released before. Safe to repeat. */
export const placeHold = (
  db: Documents,
  hold: { readonly customerId: CustomerId; readonly jobId: WorkId; readonly pages: number },
  window: Duration.Duration
): boolean => {
  const { customerId, jobId, pages } = hold
  const known = db.holds.get(jobId)
  if (known !== undefined) return known.state !== "released"
  const funds = availableFunds(db, customerId)
  if (funds === undefined || amountOf(funds) < pages) return false
  db.holds.insert({
    jobId,
    customerId,
    credits: funds.plan === "paid" ? pages : 0,
    freePages: funds.plan === "paid" ? 0 : pages,
    state: "held",
    outcome: null,
    expiresAt: db.moment() + micros(window),
    createdAt: db.moment()
  })
  return true
}

const openHold = (db: Documents, jobId: WorkId | null): HoldRow | undefined => {
  const hold = db.holds.get(jobId)
  return hold?.state === "held" ? hold : undefined
}

/** `refresh_hold`: lets a hold last for `window` from now; a lapsed hold is renewed if the funds suffice. */
export const refreshHold = (db: Documents, jobId: WorkId | null, window: Duration.Duration): boolean => {
  const hold = openHold(db, jobId)
  if (hold === undefined) return false
  const amount = hold.expiresAt > db.moment() ? hold : amountInPlan(db, hold, amountOf(hold))
  if (amount === undefined) return false
  const { credits, freePages } = amount
  db.holds.update(hold.jobId, { credits, freePages, expiresAt: db.moment() + micros(window) })
  return true
}

/** `release_hold`: true for the call that released it. */
export const releaseHold = (db: Documents, jobId: WorkId | null, outcome: string): boolean => {
  const hold = openHold(db, jobId)
  if (hold === undefined) return false
  db.holds.update(hold.jobId, { state: "released", outcome })
  return true
}

/** `widen_hold`: makes an open hold large enough; false where the funds do not suffice. What is free of charge stays so. */
export const widenHold = (db: Documents, jobId: WorkId | null, pages: number | undefined): boolean => {
  const hold = openHold(db, jobId)
  if (hold === undefined || amountOf(hold) === 0 || (pages ?? 0) <= amountOf(hold)) return true
  const amount = pages === undefined ? undefined : amountInPlan(db, hold, pages)
  if (amount === undefined) return false
  db.holds.update(hold.jobId, amount)
  return true
}

/**
 * `settle_hold`: turns a hold into its charge, once, for `pages` or all that was held. `insufficient`: it had lapsed, and its
 * funds are spent, or the balance is below what was set aside.
 */
export const settleHold = (
  db: Documents,
  jobId: WorkId | null,
  pages?: number
): "none" | "insufficient" | HoldRow["state"] => {
  const hold = db.holds.get(jobId)
  if (hold === undefined) return "none"
  if (hold.state !== "held") return hold.state
  const customer = db.customers.get(hold.customerId)
  if (customer === undefined) throw new Error("a hold of nobody")
  const asHeld: Amount = {
    credits: Math.min(hold.credits, pages ?? hold.credits),
    freePages: Math.min(hold.freePages, pages ?? hold.freePages)
  }
  const isCovered =
    hold.expiresAt > db.moment() &&
    customer.credits >= asHeld.credits &&
    FREE_LIFETIME_PAGES - customer.freePagesUsed >= asHeld.freePages
  const amount = isCovered ? asHeld : amountInPlan(db, hold, amountOf(asHeld))
  if (amount === undefined) return "insufficient"
  const { credits, freePages } = amount
  db.holds.update(hold.jobId, { state: "settled", outcome: "completed" })
  db.customers.update(customer.id, {
    credits: credits > 0 ? customer.credits - credits : customer.credits,
    freePagesUsed: customer.freePagesUsed + freePages
  })
  db.charges.insert({
    jobId: hold.jobId,
    customerId: hold.customerId,
    credits,
    freePages,
    createdAt: db.moment()
  })
  return "settled"
}
