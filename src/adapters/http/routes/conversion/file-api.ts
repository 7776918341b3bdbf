import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { JobStatus, ConversionOptions } from "../../../../domain/conversion/job.ts"
import { MAX_FILES_PAGE } from "../../../../ports/conversion/conversion-store.ts"
import { problemSchema } from "../../server/problem.ts"
import { OwnerAccess } from "../../server/session.ts"
import { InvalidRequest } from "../mail/relay.ts"
import { cursor, page } from "../query.ts"

/** The price of a conversion, as held. */
const Price = Schema.Int.annotate({
  description:
    "What a conversion sets aside: so many credits, or pages of the free plan. Pages that cannot be read are not charged, those of a Word document are counted from its result, and an earlier conversion is not refunded."
})

/** A file as its owner sees it (DOC-2). */
export const FileView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  sizeBytes: Schema.Number,
  pages: Schema.Int,
  status: Schema.Literals(["uploaded", "processing", "chunked_processing", "completed", "failed"]),
  phase: Schema.NullOr(Schema.String).annotate({ description: "What is going on, in words." }),
  batchWaiting: Schema.Boolean.annotate({ description: "Its job is `waiting_batch`." }),
  jobId: Schema.NullOr(Schema.String),
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
  })
}).annotate({ identifier: "File" })

/** The body that starts a conversion. */
export const ConvertRequest = Schema.Struct({
  options: Schema.optionalKey(ConversionOptions)
}).annotate({ identifier: "ConvertRequest" })

/** The current state of a conversion. */
const JobView = Schema.Struct({
  job: Schema.Struct({ id: Schema.String, status: JobStatus, price: Price }).annotate({ identifier: "Job" })
})

const OneFile = Schema.Struct({ file: FileView })

const fileId = { fileId: Schema.String }
const NotFound = problemSchema("FILE_NOT_FOUND", {})
const Unavailable = problemSchema("UNAVAILABLE", {})
const bodyRefusals = [
  InvalidRequest,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("UNSUPPORTED_MEDIA_TYPE", {})
] as const
const startRefusals = [
  NotFound,
  problemSchema("INSUFFICIENT_CREDITS", {}),
  problemSchema("CONVERSION_ACTIVE", {}),
  Unavailable
] as const

const Moved = Schema.Struct({ fileId: Schema.String, jobId: Schema.String, status: JobStatus })

/** Files and their conversions, each of one owner. */
export class FileGroup extends HttpApiGroup.make("files")
  .add(
    HttpApiEndpoint.post("uploadFile", "/api/v1/files", {
      query: { name: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))) },
      success: OneFile.pipe(HttpApiSchema.status(201)),
      error: [
        InvalidRequest,
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_FILE_TYPE", {}),
        problemSchema("UNREADABLE_FILE", {}),
        problemSchema("FILE_LIMIT_REACHED", {}),
        problemSchema("RATE_LIMITED", {}),
        Unavailable
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Takes a file in: PDF, DOCX, PNG or JPEG, by its content",
        description:
          "Either multipart/form-data with a field `file`, or the bytes as they are, with `?name=`."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("listFiles", "/api/files", {
      query: {
        limit: page(MAX_FILES_PAGE, MAX_FILES_PAGE),
        cursor
      },
      success: Schema.Struct({
        files: Schema.Array(FileView),
        nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
      }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The caller's files, newest first",
        description: "`nextCursor` is there where `limit` or `cursor` is named, or there are more files."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("getFile", "/api/v1/files/:fileId", {
      params: fileId,
      success: OneFile,
      error: [NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "One file")
  )
  .add(
    HttpApiEndpoint.delete("deleteFile", "/api/v1/files/:fileId", {
      params: fileId,
      success: HttpApiSchema.NoContent,
      error: [NotFound, problemSchema("CONVERSION_FINISHING", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Deletes a file and its result",
        description: "A conversion that is under way is cancelled first; nothing is charged for it."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("getResult", "/api/v1/files/:fileId/result", {
      params: fileId,
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html; charset=utf-8" })),
      error: [NotFound, problemSchema("RESULT_NOT_READY", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The accessible HTML, one self-contained file",
        description:
          "Of the newest conversion that was completed: while the file is converted anew, and after a cancel or a failure, the " +
          "earlier result stays."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("convertFile", "/api/v1/files/:fileId/convert", {
      params: fileId,
      payload: ConvertRequest,
      success: JobView.pipe(HttpApiSchema.status(202)),
      error: [...bodyRefusals, ...startRefusals]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Starts the conversion",
        description:
          "One credit a page, set aside now and charged when the result is stored; nothing on failure or cancel. Converting again " +
          "costs the same again; the earlier result stays until the new one is stored."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("cancelConversion", "/api/v1/files/:fileId/cancel", {
      params: fileId,
      success: Moved,
      error: [
        NotFound,
        problemSchema("CONVERSION_FINISHING", {}),
        problemSchema("CONVERSION_INLINE", {}),
        problemSchema("NOT_CONVERTING", {}),
        Unavailable
      ]
    }).annotate(OpenApi.Summary, "Stops the conversion and keeps the file; nothing is charged")
  )
  .add(
    HttpApiEndpoint.post("processNow", "/api/v1/files/:fileId/process-now", {
      params: fileId,
      success: Moved,
      error: [NotFound, problemSchema("NOT_BATCH_WAITING", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Converts now what waits for the batch",
        description:
          "Where the batch results are just there, the conversion is left to go on with them, and `status` may still be " +
          "`waiting_batch` for a moment."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("streamConversion", "/api/convert/:fileId/stream", {
      params: fileId,
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
      error: [NotFound, problemSchema("RATE_LIMITED", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Progress as server-sent events",
        description:
          "Events `progress`, `completed`, `failed`, `cancelled`; data `{fileId, jobId, status, phase, done, total}`. The first " +
          "is the state now; the stream closes after a terminal one. A comment every 15 s keeps proxies open."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("preserveFormatting", "/api/v1/files/:fileId/preserve-formatting", {
      params: fileId,
      success: Schema.Struct({
        flyerJob: Schema.Struct({ id: Schema.String, status: Schema.Literal("pending"), price: Price })
      }).pipe(HttpApiSchema.status(202)),
      error: [...startRefusals, problemSchema("UNSUPPORTED_FILE_TYPE", {})]
    }).annotate(OpenApi.Summary, "Asks for a layout-true result of a PDF")
  )
  .add(
    HttpApiEndpoint.post("reflowFlyer", "/api/v1/flyer-jobs/:id/reflow", {
      params: { id: Schema.String },
      success: JobView.pipe(HttpApiSchema.status(202)),
      error: [
        problemSchema("NOT_FOUND", {}),
        problemSchema("CONVERSION_ACTIVE", {}),
        problemSchema("ALREADY_RESOLVED", {}),
        Unavailable
      ]
    }).annotate(OpenApi.Summary, "Chooses the reflowed result instead, once and free of charge")
  )
  .middleware(OwnerAccess) {}
