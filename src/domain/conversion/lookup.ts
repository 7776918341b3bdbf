import type { FileId, JobId } from "../ids.ts"
import type { FileStatus, StoredFile } from "./file.ts"
import { isTerminal, type JobStatus } from "./job.ts"

/** A conversion as its owner sees it. Times are ISO 8601. */
export interface StoredJob {
  readonly id: JobId
  readonly fileId: FileId
  /** The bulk order that it is part of. */
  readonly bulkId: string | null
  readonly status: JobStatus
  readonly error: string | null
  readonly endedAt: string | null
}

/** How many items of a bulk order are in which state. `waiting`: not begun, for the batch lane, or for the budget. */
export interface BulkCounts {
  readonly waiting: number
  readonly processing: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
}

/** A bulk order as its owner sees it. */
export interface StoredBulk {
  readonly id: string
  readonly reference: string | null
  readonly createdAt: string
  readonly counts: BulkCounts
}

export const hasEnded = ({ counts: { processing, waiting } }: Pick<StoredBulk, "counts">): boolean =>
  processing + waiting === 0

/** What a list of files is restricted to. Days are UTC, `YYYY-MM-DD`, and included. */
export interface FileFilter {
  /** Files that have it, and files of bulk orders that have it. */
  readonly reference?: string | undefined
  readonly status?: FileStatus | undefined
  /** A part of the name, in any case. */
  readonly name?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly bulkId?: string | undefined
}

/** The newest conversion of a file; null where there was none. */
export const lastJobOf = ({
  jobEndedAt,
  jobId,
  jobStatus,
  made,
  status
}: StoredFile): Pick<StoredJob, "id" | "status" | "endedAt"> | null => {
  if (jobId === null) return null
  const known = jobStatus ?? STATUS_OF[status]
  const endedAt = jobEndedAt ?? (known === "completed" ? (made?.at ?? null) : null)
  return { id: jobId, status: known, endedAt: isTerminal(known) ? endedAt : null }
}

/** The status of a conversion that has no job row (yet), by its file's. */
const STATUS_OF: Readonly<Record<FileStatus, JobStatus>> = {
  uploaded: "cancelled",
  processing: "processing",
  chunked_processing: "pending",
  completed: "completed",
  failed: "failed"
}
