import { Schema } from "effect"

import type { LeftOut } from "../../reader/model/left-out.ts"
import type { CustomerId, FileId, JobId } from "../ids.ts"
import type { JobStatus } from "./job.ts"
import type { Made } from "./making.ts"

/** What a file is, by its content. */
export const FileKind = Schema.Literals(["pdf", "docx", "png", "jpeg"])

export type FileKind = typeof FileKind.Type

/** Statuses of a file; `processing` is the inline path (DOCX, images). */
export const FileStatus = Schema.Literals([
  "uploaded",
  "processing",
  "chunked_processing",
  "completed",
  "failed"
])

export type FileStatus = typeof FileStatus.Type

/** A file as its owner sees it. Times are ISO 8601. */
export interface StoredFile {
  readonly id: FileId
  readonly customerId: CustomerId
  readonly name: string
  readonly kind: FileKind
  readonly sizeBytes: number
  readonly pages: number
  readonly status: FileStatus
  readonly phase: string | null
  /** Its job is `waiting_batch`. Computed from the job. */
  readonly batchWaiting: boolean
  readonly jobId: JobId | null
  /** Status of the job `jobId`; null without a job (yet). */
  readonly jobStatus: JobStatus | null
  /** Pages. */
  readonly progress: { readonly done: number; readonly total: number }
  readonly error: string | null
  readonly createdAt: string
  readonly objectKey: string
  /** The newest paid result, whatever has become of later conversions (DOC-15). */
  readonly resultKey: string | null
  /** Of the result: pages from 1 that could not be read, and whether it contains any text; null: not known. */
  readonly unreadablePages: ReadonlyArray<number>
  readonly hasText: boolean | null
  /** Pages from 1 that no model converted though high fidelity was asked for. */
  readonly noModelPages: ReadonlyArray<number>
  /** What the result was made with, and when (ISO 8601); null without a result or a record of it. */
  readonly made: Made | null
  /** Parts of a PDF that no conversion reads; null when it was not examined or is not a PDF. */
  readonly leftOut: LeftOut | null
}
