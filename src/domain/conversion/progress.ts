import type { StoredFile } from "../../ports/conversion/conversion-store.ts"

/** Events of a progress stream (contract, "Files and conversions"). */
type ProgressEvent = "progress" | "completed" | "failed" | "cancelled"

/** What a watcher is told. */
interface ProgressData {
  readonly fileId: string
  readonly jobId: string | null
  readonly status: string
  readonly phase: string | null
  readonly done: number
  readonly total: number
}

/** A moment of a conversion, as its watcher sees it. */
export interface ProgressMoment {
  readonly event: ProgressEvent
  readonly data: ProgressData
}

/**
 * What a file's state is to a watcher of its conversion. A cancelled job's file reads `uploaded`; so does one that was never
 * converted, of which there is nothing to come either: `cancelled` is told only where there was a job.
 */
export const momentOf = (file: StoredFile): ProgressMoment => {
  const { done, total } = file.progress
  const data = {
    fileId: file.id,
    jobId: file.jobId,
    status: file.jobStatus ?? file.status,
    phase: file.phase,
    done,
    total
  }
  switch (file.status) {
    case "completed":
      return { event: "completed", data: { ...data, status: "completed" } }
    case "failed":
      return { event: "failed", data: { ...data, status: "failed", phase: file.error } }
    case "uploaded":
    case "chunked_processing":
      return file.jobStatus === "cancelled"
        ? { event: "cancelled", data: { ...data, status: "cancelled" } }
        : { event: "progress", data }
    case "processing":
      return { event: "progress", data }
  }
}

/** What the watcher of a file that was deleted is told: a conversion that was under way is cancelled with it, else nothing. */
export const momentOfDeleted = (file: StoredFile): ProgressMoment | undefined =>
  file.status === "processing" || file.status === "chunked_processing"
    ? {
        event: "cancelled",
        data: { fileId: file.id, jobId: file.jobId, status: "cancelled", phase: null, done: 0, total: 0 }
      }
    : undefined

/** Whether two moments tell a watcher the same. */
export const sameMoment = (a: ProgressMoment, b: ProgressMoment): boolean =>
  a.event === b.event &&
  a.data.jobId === b.data.jobId &&
  a.data.status === b.data.status &&
  a.data.phase === b.data.phase &&
  a.data.done === b.data.done &&
  a.data.total === b.data.total
