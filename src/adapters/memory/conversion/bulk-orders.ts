import { type Duration, Effect, Layer } from "effect"

import { isTerminal } from "../../../domain/conversion/job.ts"
import { type BulkMessage, BulkOrders } from "../../../ports/conversion/bulk-orders.ts"
import type { BulkItemRow, BulkOrderRow } from "../documents/rows.ts"
import { type Documents, MemoryDocuments, micros, transaction } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { request } from "./requests.ts"

type Order = Parameters<BulkOrders["Service"]["request"]>[0]
type Answer = Effect.Success<ReturnType<BulkOrders["Service"]["request"]>>

/** One file's refusal undoes the whole order. */
class RefusedOrder extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super("the order is refused")
    this.answer = answer
  }
}

const place = (db: Documents, { bulkId, customerId, items, reference, window }: Order): void => {
  db.bulkOrders.insert({
    id: bulkId,
    customerId,
    reference: reference ?? null,
    createdAt: db.moment(),
    endedAt: null,
    notifyingUntil: null,
    attempts: 0,
    notifiedAt: null
  })
  for (const [index, { fileId, jobId, options }] of items.entries()) {
    const answer = request(db, { jobId, fileId, customerId, options, window, bulkId })
    if (answer !== "queued") throw new RefusedOrder({ answer, fileId })
    db.bulkItems.insert({ bulkId, place: index, fileId, jobId })
  }
}

/** `request_bulk`: all or none; the same order again changes nothing. */
const requestBulk = (db: Documents, order: Order): Answer => {
  if (db.bulkOrders.get(order.bulkId) !== undefined) return { answer: "queued" }
  try {
    db.atomically(() => place(db, order))
    return { answer: "queued" }
  } catch (error) {
    if (error instanceof RefusedOrder) return error.answer
    throw error
  }
}

type Outcome = BulkMessage["items"][number]["outcome"]

/** `bulk_outcome`: how an item ended; undefined while it is under way. What has no job is known by its hold. */
export const outcomeOf = (
  db: Documents,
  { fileId, jobId }: Pick<BulkItemRow, "fileId" | "jobId">
): Outcome | undefined => {
  const status = db.jobs.get(jobId)?.status
  if (status === "completed" || status === "failed" || status === "cancelled") return status
  if ((status !== undefined && !isTerminal(status)) || db.queue.get(jobId) !== undefined) return undefined
  const hold = db.holds.get(jobId)
  if (hold?.state === "settled") return "completed"
  if (hold?.state === "released") return hold.outcome === "cancelled" ? "cancelled" : "failed"
  const file = db.files.get(fileId)
  const isUnderWay = file?.jobId === jobId && file.deletedAt === null && file.status === "processing"
  return isUnderWay ? undefined : "failed"
}

const itemsOf = (db: Documents, { id }: BulkOrderRow): ReadonlyArray<BulkItemRow> =>
  db.bulkItems.where(({ bulkId }) => bulkId === id).sort(by((item) => item.place))

/** A failed sending doubles the time until the next one, up to this. */
const MOST_LEASES = 64

/** `claim_bulk_message`: the oldest ended order with an unclaimed message. */
const claimMessage = (
  db: Documents,
  { lease, maxAttempts }: { readonly lease: Duration.Duration; readonly maxAttempts: number }
): BulkMessage | undefined => {
  const now = db.moment()
  const [next] = db.bulkOrders
    .where(
      (order) =>
        order.notifiedAt === null &&
        order.attempts < maxAttempts &&
        (order.notifyingUntil === null || order.notifyingUntil <= now) &&
        itemsOf(db, order).every((item) => outcomeOf(db, item) !== undefined)
    )
    .sort(by(({ createdAt }) => createdAt))
  const customer = db.customers.get(next?.customerId)
  if (next === undefined || customer === undefined) return undefined
  const endedAt = next.endedAt ?? now
  const attempts = next.attempts + 1
  const notifyingUntil = now + micros(lease) * Math.min(2 ** next.attempts, MOST_LEASES)
  db.bulkOrders.update(next.id, { endedAt, attempts, notifyingUntil })
  return {
    bulkId: next.id,
    email: customer.deletedAt === null ? customer.email : undefined,
    endedAt: new Date(Math.floor(endedAt / 1000)),
    attempts,
    items: itemsOf(db, next).flatMap((item) => {
      const file = db.files.get(item.fileId)
      const outcome = outcomeOf(db, item)
      if (file === undefined || outcome === undefined) return []
      const noModelPages = file.jobId === item.jobId ? file.noModelPages.length : 0
      return [
        { fileId: file.id, fileName: file.name, deleted: file.deletedAt !== null, noModelPages, outcome }
      ]
    })
  }
}

/** `confirm_bulk_message`. */
const confirmMessage = (db: Documents, bulkId: string): boolean => {
  const order = db.bulkOrders.get(bulkId)
  if (order === undefined || order.notifiedAt !== null) return false
  db.bulkOrders.update(bulkId, { notifiedAt: db.moment(), notifyingUntil: null })
  return true
}

/** Bulk orders in memory, by the same rules as the functions of PostgreSQL. */
export const makeBulkOrders = (documents: Documents): BulkOrders["Service"] =>
  BulkOrders.of({
    request: (order) => transaction(documents, (db) => requestBulk(db, order)),
    claimMessage: (claim) => transaction(documents, (db) => claimMessage(db, claim)),
    confirmMessage: (bulkId) => transaction(documents, (db) => confirmMessage(db, bulkId))
  })

export const layer: Layer.Layer<BulkOrders, never, MemoryDocuments> = Layer.effect(
  BulkOrders,
  Effect.map(MemoryDocuments, makeBulkOrders)
)
