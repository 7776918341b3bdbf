import type { WaitFacts } from "../../../domain/conversion/waiting.ts"
import type { FileId } from "../../../domain/ids.ts"
import { least } from "../../../domain/lists.ts"
import type { Moment } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"

const LIVE = new Set(["pending", "processing", "assembling"])

const latest = (moments: ReadonlyArray<Moment | null>): Moment | null =>
  moments.reduce((last, one) => (last === null || one === null ? (last ?? one) : Math.max(last, one)), null)

/** Why the conversion of a file does not move on. */
export const waitFacts = (db: Documents, fileId: FileId): WaitFacts | undefined => {
  const file = db.files.get(fileId)
  if (file === undefined || file.deletedAt !== null) return undefined
  if (file.status !== "processing" && file.status !== "chunked_processing") return undefined
  const now = db.moment()
  const since = (moment: Moment | null = null) => (moment === null ? null : Math.floor((now - moment) / 1e6))
  const job = db.jobs.get(file.jobId)
  const chunks = db.chunks.where(({ jobId }) => jobId === job?.id)
  const held = db.chunks.where(({ status }) => status === "processing")
  const inline = db.files.where(({ deletedAt, status }) => status === "processing" && deletedAt === null)
  const assembled = db.jobs.where(({ status }) => status === "assembling")
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
    others:
      db.jobs.where(({ id, status }) => LIVE.has(status) && id !== file.jobId).length +
      inline.filter(({ id }) => id !== fileId).length,
    anySilent: since(
      latest([
        ...[...held, ...assembled].map(({ heartbeatAt }) => heartbeatAt),
        ...inline.filter(({ lease }) => lease !== null).map(({ heartbeatAt }) => heartbeatAt)
      ])
    ),
    submitted: since(db.batches.get(job?.id ?? null)?.submittedAt)
  }
}
