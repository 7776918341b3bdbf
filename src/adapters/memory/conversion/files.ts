import type { StoredFile } from "../../../domain/conversion/file.ts"
import type { FileFilter } from "../../../domain/conversion/lookup.ts"
import { FILE_ROOM } from "../../../domain/conversion/stored-files.ts"
import type { CustomerId } from "../../../domain/ids.ts"
import type { NewFile } from "../../../ports/conversion/conversion-store.ts"
import type { FileRow } from "../documents/rows.ts"
import { type Documents, isoOf } from "../documents/state.ts"
import { by, Refused } from "../documents/table.ts"

/** A file as its owner sees it. */
export const shown = (db: Documents, file: FileRow): StoredFile => {
  const job = db.jobs.get(file.jobId)
  const jobStatus = job?.status ?? null
  return {
    id: file.id,
    customerId: file.customerId,
    name: file.name,
    kind: file.kind,
    sizeBytes: file.sizeBytes,
    pages: file.pages,
    status: file.status,
    phase: file.phase,
    batchWaiting: jobStatus === "waiting_batch",
    jobId: file.jobId,
    jobStatus,
    jobEndedAt: job === undefined || job.finishedAt === null ? null : isoOf(job.finishedAt),
    chunksDone: job?.doneChunks ?? 0,
    progress: { done: file.done, total: file.total },
    error: file.error,
    createdAt: isoOf(file.createdAt),
    objectKey: file.objectKey,
    resultKey: file.resultKey,
    unreadablePages: file.unreadablePages,
    hasText: file.hasText,
    noModelPages: file.noModelPages,
    made: file.made === null || file.madeAt === null ? null : { ...file.made, at: isoOf(file.madeAt) },
    leftOut: file.leftOut,
    reference: file.reference
  }
}

const isOrdered = (db: Documents, { customerId, id }: FileRow, reference: string): boolean =>
  db.bulkItems
    .where(({ fileId }) => fileId === id)
    .map(({ bulkId }) => db.bulkOrders.get(bulkId))
    .some((order) => order?.customerId === customerId && order.reference === reference)

/** The files of a customer; with a reference: those that have it, or that an order with it names. */
export const filesOf = (
  db: Documents,
  customerId: CustomerId,
  { bulkId, name, reference, since, status, until }: FileFilter = {}
): ReadonlyArray<FileRow> =>
  db.files.where((file) => {
    const day = isoOf(file.createdAt).slice(0, 10)
    return (
      file.customerId === customerId &&
      file.deletedAt === null &&
      (reference === undefined || file.reference === reference || isOrdered(db, file, reference)) &&
      (status === undefined || file.status === status) &&
      (name === undefined || file.name.toLowerCase().includes(name.toLowerCase())) &&
      (since === undefined || day >= since) &&
      (until === undefined || day <= until) &&
      (bulkId === undefined ||
        db.bulkItems.where((item) => item.bulkId === bulkId && item.fileId === file.id).length > 0)
    )
  })

const isFull = (db: Documents, customerId: CustomerId, more: number): boolean => {
  const customer = db.customers.get(customerId)
  if (customer === undefined) return false
  const room = FILE_ROOM[customer.plan]
  const kept = filesOf(db, customerId)
  return kept.length >= room.files || kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, more) > room.bytes
}

/** Whether a file of a byte would have room. */
export const hasRoom = (db: Documents, customerId: CustomerId): boolean => !isFull(db, customerId, 1)

/** `add_file`: undefined where its owner has no room for it. Safe to repeat. */
export const addFile = (db: Documents, file: NewFile): FileRow | undefined => {
  const known = db.files.get(file.id)
  if (known !== undefined) return known
  const customer = db.customers.get(file.customerId)
  if (customer === undefined) throw new Refused("a file of nobody")
  if (isFull(db, customer.id, file.sizeBytes)) return undefined
  const now = db.moment()
  return db.files.insert({
    ...file,
    leftOut: file.leftOut ?? null,
    reference: file.reference ?? null,
    status: "uploaded",
    phase: null,
    resultKey: null,
    unreadablePages: [],
    noModelPages: [],
    hasText: null,
    made: null,
    madeAt: null,
    jobId: null,
    done: 0,
    total: 0,
    error: null,
    options: {},
    lease: null,
    heartbeatAt: null,
    claimedAt: null,
    attempts: 0,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    purgedAt: null,
    sharesFrom: null
  })
}

/** Deleted files that still have objects, with all their jobs, the longest deleted first. */
export const filesToPurge = (db: Documents, limit: number) =>
  db.files
    .where(({ deletedAt, purgedAt }) => deletedAt !== null && purgedAt === null)
    .sort(by(({ deletedAt }) => deletedAt ?? 0))
    .slice(0, limit)
    .map(({ id, jobId }) => ({
      id,
      jobIds: [
        ...new Set([
          ...db.jobs.where(({ fileId }) => fileId === id).map((job) => job.id),
          ...db.flyers.where(({ fileId }) => fileId === id).map((flyer) => flyer.id),
          ...(jobId === null ? [] : [jobId])
        ])
      ]
    }))
