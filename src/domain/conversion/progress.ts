import type { FileId, JobId } from "../ids.ts"
import type { StoredFile } from "./file.ts"
import type { JobStatus } from "./job.ts"

/** Events of a progress stream (DOC-44). */
type ProgressEvent = "progress" | "completed" | "failed" | "cancelled"

/** Consecutive pages, from 1, the last one included. */
export interface PageRange {
  readonly first: number
  readonly last: number
}

/** The pages of stored chunks, which count from 0, as few ranges as they make up, in order. */
export const readyPagesOf = (
  chunks: ReadonlyArray<{ readonly firstPage: number; readonly lastPage: number }>
): ReadonlyArray<PageRange> => {
  const ranges: Array<PageRange> = []
  for (const { firstPage, lastPage } of chunks.toSorted((a, b) => a.firstPage - b.firstPage)) {
    const before = ranges.at(-1)
    const next = { first: firstPage + 1, last: lastPage + 1 }
    if (before === undefined || before.last + 1 < next.first) ranges.push(next)
    else ranges[ranges.length - 1] = { first: before.first, last: Math.max(before.last, next.last) }
  }
  return ranges
}

/** The job of a conversion under way, once one of its chunks is completed: its pages have a preview. */
export const previewedJob = ({ chunksDone, jobId, status }: StoredFile): JobId | undefined =>
  status === "chunked_processing" && chunksDone > 0 ? (jobId ?? undefined) : undefined

/** The data of a progress event. */
interface ProgressData {
  readonly fileId: FileId
  readonly jobId: JobId | null
  readonly status: string
  readonly phase: string | null
  readonly done: number
  readonly total: number
  /** Pages that can be looked at before the result is there (DOC-46). */
  readonly readyPages: ReadonlyArray<PageRange>
}

/** A moment of a conversion, as its watcher sees it. */
export interface ProgressMoment {
  readonly event: ProgressEvent
  readonly data: ProgressData
}

/** What every moment of a file has. */
const dataOf = ({ id, jobId, progress: { done, total } }: StoredFile, status: string): ProgressData => ({
  fileId: id,
  jobId,
  status,
  phase: null,
  done,
  total,
  readyPages: []
})

/**
 * A file's state as a watcher of its conversion sees it. The file of a cancelled job reads `uploaded`; so does one that was never
 * converted: `cancelled` is reported only where there was a job.
 */
export const momentOf = (file: StoredFile, readyPages: ReadonlyArray<PageRange> = []): ProgressMoment => {
  const data = { ...dataOf(file, file.jobStatus ?? file.status), phase: file.phase, readyPages }
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

/** The moment that a deleted file's watcher gets: a conversion under way is cancelled with the file, else nothing is reported. */
export const momentOfDeleted = (file: StoredFile): ProgressMoment | undefined =>
  file.status === "processing" || file.status === "chunked_processing"
    ? { event: "cancelled", data: { ...dataOf(file, "cancelled"), done: 0, total: 0 } }
    : undefined

/** Whether the file shows a conversion under way that is not the one it shows now: that one has ended meanwhile. */
export const wasReplaced = (known: StoredFile, now: StoredFile): boolean =>
  known.jobId !== null &&
  now.jobId !== known.jobId &&
  (known.status === "processing" || known.status === "chunked_processing")

/** The end of a conversion after its file's next conversion has begun; `ended`: the status of its job, if it had one. */
export const momentOfReplaced = (
  known: StoredFile,
  { resultKey }: StoredFile,
  ended: JobStatus | undefined
): ProgressMoment => {
  const event =
    ended === "cancelled"
      ? "cancelled"
      : ended === "completed" || resultKey !== known.resultKey
        ? "completed"
        : "failed"
  return { event, data: dataOf(known, event) }
}

/** Whether two moments look the same to a watcher. */
export const sameMoment = (a: ProgressMoment, b: ProgressMoment): boolean =>
  a.event === b.event &&
  a.data.jobId === b.data.jobId &&
  a.data.status === b.data.status &&
  a.data.phase === b.data.phase &&
  a.data.done === b.data.done &&
  a.data.total === b.data.total &&
  a.data.readyPages.length === b.data.readyPages.length &&
  a.data.readyPages.every(({ first, last }, at) => {
    const other = b.data.readyPages[at]
    return first === other?.first && last === other.last
  })
