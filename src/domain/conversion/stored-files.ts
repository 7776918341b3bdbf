import { Data } from "effect"

import { FileId, JobId, type FlyerId, type LeaseId } from "../ids.ts"

const GIB = 1024 ** 3

/** Limits on the files of one customer, by plan. */
export const FILE_ROOM = {
  free: { files: 100, bytes: 5 * GIB },
  paid: { files: 50_000, bytes: 1024 * GIB }
} as const

/** Concurrent uploads of one customer, in one process. */
export const MAX_UPLOADS_AT_ONCE = 20

/** A customer has reached the limit on files: one has to be deleted first. */
export class NoRoomForFile extends Data.TaggedError("NoRoomForFile")<{}> {}

/** All objects of a job. */
export const jobPrefix = (jobId: JobId | FlyerId): string => `jobs/${jobId}/`

/** All objects of uploaded files. */
export const FILES = "files/"

/** All objects of an uploaded file but those of its jobs. */
export const filePrefix = (fileId: FileId): string => `${FILES}${fileId}/`

const FILE_ID = /^files\/([\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12})\//

/** The file that an object belongs to; undefined when the file's id holds no time. */
export const fileIdOf = (key: string): FileId | undefined => {
  const id = FILE_ID.exec(key)?.[1]
  return id === undefined ? undefined : FileId.make(id)
}

/** Key of a chunk's result; the lease is part of it, so that a worker that lost it overwrites nothing. */
export const chunkResultKey = (jobId: JobId, chunkIndex: number, lease: LeaseId): string =>
  `${jobPrefix(jobId)}chunks/${chunkIndex}-${lease}.jsonl`

/** Key of a job's result. */
export const resultKey = (jobId: JobId, lease: LeaseId): string => `${jobPrefix(jobId)}result-${lease}.html`

/** Key of a Word document's or a picture's result: with its file's objects, since there is no job row. */
export const inlineResultKey = (fileId: FileId, lease: LeaseId): string =>
  `${filePrefix(fileId)}result-${lease}.html`

/** The job that made the result with this key; undefined for the result of a Word document or a picture, which has no job. */
export const jobOfResult = (key: string): JobId | undefined => {
  const id = /^jobs\/([^/]+)\/result-/.exec(key)?.[1]
  return id === undefined ? undefined : JobId.make(id)
}

/** Key of an uploaded file. `attempt` keeps the objects of several attempts at one upload apart. */
export const fileKey = (fileId: FileId, attempt?: string): string =>
  `${filePrefix(fileId)}source${attempt === undefined ? "" : `-${attempt}`}`

/** Key of a flyer job's result: with its file's objects, unique to the attempt. */
export const flyerResultKey = (fileId: FileId, lease: LeaseId): string =>
  `${filePrefix(fileId)}flyer-${lease}.html`
