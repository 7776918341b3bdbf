import { Schema } from "effect"

import { FileStatus, type StoredFile } from "../../../../domain/conversion/file.ts"
import { JobStatus } from "../../../../domain/conversion/job.ts"
import { lastJobOf } from "../../../../domain/conversion/lookup.ts"
import { Made } from "../../../../domain/conversion/making.ts"
import { WaitsFor } from "../../../../domain/conversion/waiting.ts"
import { LeftOut } from "../../../../reader/model/left-out.ts"
import { Price, priceOf, Reference } from "./own-file.ts"

/** A file as its owner sees it (DOC-2). */
export const FileView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  sizeBytes: Schema.Int,
  pages: Schema.Int,
  status: FileStatus,
  phase: Schema.NullOr(Schema.String).annotate({ description: "What is going on, in words." }),
  batchWaiting: Schema.Boolean.annotate({ description: "Its job is `waiting_batch`." }),
  jobId: Schema.NullOr(Schema.String),
  lastJob: Schema.NullOr(
    Schema.Struct({
      id: Schema.String,
      status: JobStatus,
      endedAt: Schema.NullOr(Schema.String)
    }).annotate({ identifier: "LastJob" })
  ).annotate({
    description: "The newest conversion, `cancelled` too: the file of a cancelled one is `uploaded` again."
  }),
  progress: Schema.Struct({ done: Schema.Int, total: Schema.Int }).annotate({ description: "Pages." }),
  error: Schema.NullOr(Schema.String),
  hasResult: Schema.Boolean.annotate({
    description:
      "A result can be read and shared: of the newest conversion that was completed, whatever `status` is."
  }),
  price: Price,
  createdAt: Schema.String,
  unreadablePages: Schema.Array(Schema.Int).annotate({
    description:
      "Pages of the result, from 1, that could not be read: each has a note in its place and was not charged."
  }),
  hasText: Schema.NullOr(Schema.Boolean).annotate({
    description: "Whether there is a word of text in the result; null where there is none, or nobody looked."
  }),
  noModelPages: Schema.Array(Schema.Int).annotate({
    description:
      "Pages of the result, from 1, that no model converted though high fidelity was asked for: they were converted without it."
  }),
  made: Schema.NullOr(Made),
  leftOut: Schema.NullOr(LeftOut),
  reference: Schema.NullOr(Reference),
  /** Why the conversion under way may be waiting. Lists leave it out. */
  waitsFor: Schema.optionalKey(WaitsFor),
  readyPages: Schema.optionalKey(
    Schema.Array(Schema.Struct({ first: Schema.Int, last: Schema.Int }).annotate({ identifier: "PageRange" }))
  ).annotate({
    description:
      "While it is converted: pages, from 1, that `…/pages/:page/preview` shows before the result is there. Lists leave it out."
  })
}).annotate({ identifier: "File" })

export const OneFile = Schema.Struct({ file: FileView })

export const viewOf = (file: StoredFile): typeof FileView.Type => ({
  id: file.id,
  name: file.name,
  sizeBytes: file.sizeBytes,
  pages: file.pages,
  status: file.status,
  phase: file.phase,
  batchWaiting: file.batchWaiting,
  jobId: file.jobId,
  lastJob: lastJobOf(file),
  progress: file.progress,
  error: file.error,
  hasResult: file.resultKey !== null,
  price: priceOf(file),
  createdAt: file.createdAt,
  unreadablePages: file.unreadablePages,
  hasText: file.hasText,
  noModelPages: file.noModelPages,
  made: file.made,
  leftOut: file.leftOut,
  reference: file.reference
})
