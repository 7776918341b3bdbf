import type { BulkCounts, StoredBulk, StoredJob } from "../../../domain/conversion/lookup.ts"
import type { CustomerId, JobId } from "../../../domain/ids.ts"
import { type Documents, isoOf } from "../documents/state.ts"
import { outcomeOf } from "./bulk-orders.ts"

/** A conversion of a customer; one without a job row (yet) is known by its file and its hold. */
export const jobOf = (db: Documents, jobId: JobId, customerId: CustomerId): StoredJob | undefined => {
  const job = db.jobs.get(jobId)
  const [item] = db.bulkItems.where((one) => one.jobId === jobId)
  const fileId = job?.fileId ?? item?.fileId ?? db.files.where((file) => file.jobId === jobId)[0]?.id
  const file = db.files.get(fileId)
  if (file === undefined || file.customerId !== customerId || file.deletedAt !== null) return undefined
  const outcome = outcomeOf(db, { fileId: file.id, jobId })
  const isNewest = file.jobId === jobId
  const ended =
    job?.finishedAt ?? (outcome !== undefined && isNewest ? (file.madeAt ?? file.updatedAt) : null)
  return {
    id: jobId,
    fileId: file.id,
    bulkId: job?.bulkId ?? item?.bulkId ?? null,
    status: job?.status ?? outcome ?? (file.status === "processing" ? "processing" : "pending"),
    error: job?.error ?? (isNewest && file.status === "failed" ? file.error : null),
    endedAt: ended === null ? null : isoOf(ended)
  }
}

/** A bulk order of a customer. */
export const bulkOf = (db: Documents, bulkId: string, customerId: CustomerId): StoredBulk | undefined => {
  const order = db.bulkOrders.get(bulkId)
  if (order === undefined || order.customerId !== customerId) return undefined
  const counts: { -readonly [state in keyof BulkCounts]: number } = {
    waiting: 0,
    processing: 0,
    completed: 0,
    failed: 0,
    cancelled: 0
  }
  for (const item of db.bulkItems.where((one) => one.bulkId === bulkId)) {
    const status = db.jobs.get(item.jobId)?.status
    const file = db.files.get(item.fileId)
    const isRunning =
      status === "processing" ||
      status === "assembling" ||
      (status === undefined && file?.status === "processing" && file.lease !== null)
    counts[outcomeOf(db, item) ?? (isRunning ? "processing" : "waiting")] += 1
  }
  return { id: order.id, reference: order.reference, createdAt: isoOf(order.createdAt), counts }
}
