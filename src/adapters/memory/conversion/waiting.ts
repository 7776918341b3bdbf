import type { WaitFacts } from "../../../domain/conversion/waiting.ts"
import type { FileId, FlyerId } from "../../../domain/ids.ts"
import { least } from "../../../domain/lists.ts"
import type { Moment } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"

const LIVE = new Set(["pending", "processing", "assembling"])

const DAY_SECONDS = 86_400

const latest = (moments: ReadonlyArray<Moment | null>): Moment | null =>
  moments.reduce((last, one) => (last === null || one === null ? (last ?? one) : Math.max(last, one)), null)

/** Other work, but for this; since a worker of any of it reported; what is left of the day. */
const elsewhere = (
  db: Documents,
  own: { readonly id: string; readonly jobId: string | null },
  since: (moment: Moment | null) => number | null
): Pick<WaitFacts, "others" | "anySilent" | "dayLeft"> => {
  const held = db.chunks.where(({ status }) => status === "processing")
  const inline = db.files.where(({ deletedAt, status }) => status === "processing" && deletedAt === null)
  const assembled = db.jobs.where(({ status }) => status === "assembling")
  const flyers = db.flyers.where(({ status }) => status === "pending" || status === "processing")
  return {
    others:
      db.jobs.where(({ id, status }) => LIVE.has(status) && id !== own.jobId).length +
      [...inline, ...flyers].filter(({ id }) => id !== own.id).length,
    anySilent: since(
      latest([
        ...[...held, ...assembled].map(({ heartbeatAt }) => heartbeatAt),
        ...inline.filter(({ lease }) => lease !== null).map(({ heartbeatAt }) => heartbeatAt),
        ...flyers.filter(({ status }) => status === "processing").map(({ heartbeatAt }) => heartbeatAt)
      ])
    ),
    dayLeft: DAY_SECONDS - (Math.floor(db.moment() / 1e6) % DAY_SECONDS)
  }
}

/** Seconds since a moment; null for null. */
const sinceAt =
  (now: Moment) =>
  (moment: Moment | null = null) =>
    moment === null ? null : Math.floor((now - moment) / 1e6)

/** Why a flyer job does not move on. */
export const flyerWaitFacts = (db: Documents, flyerId: FlyerId): WaitFacts | undefined => {
  const flyer = db.flyers.get(flyerId)
  if (flyer?.status !== "pending" && flyer?.status !== "processing") return undefined
  const since = sinceAt(db.moment())
  return {
    jobStatus: null,
    requested: since(flyer.createdAt) ?? 0,
    silent: since(flyer.status === "processing" ? flyer.heartbeatAt : null),
    due: null,
    submitted: null,
    ...elsewhere(db, { id: flyerId, jobId: null }, since)
  }
}

/** Why the conversion of a file does not move on. */
export const waitFacts = (db: Documents, fileId: FileId): WaitFacts | undefined => {
  const file = db.files.get(fileId)
  if (file === undefined || file.deletedAt !== null) return undefined
  if (file.status !== "processing" && file.status !== "chunked_processing") return undefined
  const now = db.moment()
  const since = sinceAt(now)
  const job = db.jobs.get(file.jobId)
  const chunks = db.chunks.where(({ jobId }) => jobId === job?.id)
  const held = db.chunks.where(({ status }) => status === "processing")
  const due = chunks.filter(({ status }) => status === "pending").map(({ notBefore }) => notBefore)
  return {
    jobStatus: job?.status ?? null,
    requested: since(job?.createdAt ?? db.queue.get(file.jobId)?.createdAt ?? file.updatedAt) ?? 0,
    silent: since(
      latest([
        ...held.filter(({ jobId }) => jobId === job?.id).map(({ heartbeatAt }) => heartbeatAt),
        job?.status === "assembling" && job.lease !== null ? job.heartbeatAt : null,
        file.status === "processing" && file.lease !== null ? file.heartbeatAt : null
      ])
    ),
    due: due.length === 0 ? null : Math.floor((least(due) - now) / 1e6),
    ...elsewhere(db, file, since),
    submitted: since(db.batches.get(job?.id ?? null)?.submittedAt)
  }
}
