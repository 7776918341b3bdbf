import { Duration, Schema, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { BatchControls } from "../../../../application/batch/controls.ts"
import { BatchTimeoutHours, giveUpIn } from "../../../../application/batch/lane-settings.ts"
import { Conversions } from "../../../../application/conversion/conversions.ts"
import { FileWatch } from "../../../../application/conversion/file-watch.ts"
import { MAX_FILE_BYTES, Uploads } from "../../../../application/conversion/uploads.ts"
import { FileStatus, type StoredFile } from "../../../../domain/conversion/file.ts"
import { Made } from "../../../../domain/conversion/making.ts"
import { momentOf } from "../../../../domain/conversion/progress.ts"
import { MAX_UPLOADS_AT_ONCE } from "../../../../domain/conversion/stored-files.ts"
import { waitsFor, WaitsFor } from "../../../../domain/conversion/waiting.ts"
import type { CustomerId } from "../../../../domain/ids.ts"
import { ConversionStore, MAX_FILES_PAGE } from "../../../../ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../ports/object-store.ts"
import { LeftOut } from "../../../../reader/model/left-out.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf, cursor, page, Page } from "../../server/endpoint.ts"
import {
  invalidCursor,
  InvalidRequest,
  invalidRequest,
  problem,
  problemSchema
} from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { eventStream, hasSeen, resultResponse } from "../../server/responses.ts"
import { withUpload } from "../../server/upload-body.ts"
import {
  cancel,
  cancelConversion,
  convert,
  convertFile,
  convertNow,
  processNow,
  streamConversion
} from "./conversions.ts"
import { chooseReflow, orderFlyer, preserveFormatting, reflowFlyer } from "./flyers.ts"
import {
  fileParams,
  FileNotFound,
  filesAway,
  FilesUnavailable,
  finishing,
  noFile,
  ownFile,
  Price,
  priceOf
} from "./own-file.ts"

/** A file as its owner sees it (DOC-2). */
const FileView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  sizeBytes: Schema.Int,
  pages: Schema.Int,
  status: FileStatus,
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
  }),
  noModelPages: Schema.Array(Schema.Int).annotate({
    description:
      "Pages of the result, from 1, that no model converted though high fidelity was asked for: they were converted without it."
  }),
  made: Schema.NullOr(Made),
  leftOut: Schema.NullOr(LeftOut),
  /** Why the conversion under way may be waiting. Lists leave it out. */
  waitsFor: Schema.optionalKey(WaitsFor)
}).annotate({ identifier: "File" })

const OneFile = Schema.Struct({ file: FileView })

/** Bytes, in the words of OpenAPI. */
const BYTES = { type: "string", format: "binary" }

const uploadFile = HttpApiEndpoint.post("uploadFile", "/api/v1/files", {
  query: { name: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))) },
  // The handler is raw: it reads the body while it arrives, and a form as well.
  payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
  success: OneFile.pipe(HttpApiSchema.status(201)),
  error: [
    InvalidRequest,
    problemSchema("PAYLOAD_TOO_LARGE", {}),
    problemSchema("UNSUPPORTED_FILE_TYPE", {}),
    problemSchema("UNREADABLE_FILE", {}),
    problemSchema("FILE_LIMIT_REACHED", {}),
    problemSchema("RATE_LIMITED", {}),
    FilesUnavailable
  ]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Takes a file in: PDF, DOCX, PNG or JPEG, by its content",
    override: {
      requestBody: {
        content: {
          "application/octet-stream": { schema: BYTES },
          "multipart/form-data": {
            schema: { type: "object", properties: { file: BYTES }, required: ["file"] }
          }
        },
        required: true
      }
    },
    description: "Either multipart/form-data with a field `file`, or the bytes as they are, with `?name=`."
  })
)

const listFiles = HttpApiEndpoint.get("listFiles", "/api/files", {
  query: {
    limit: page(MAX_FILES_PAGE, MAX_FILES_PAGE),
    cursor
  },
  success: Schema.Struct({
    files: Schema.Array(FileView),
    nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
  }),
  error: [InvalidRequest, FilesUnavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "The caller's files, newest first",
    description: "`nextCursor` is there where `limit` or `cursor` is named, or there are more files."
  })
)

const getFile = HttpApiEndpoint.get("getFile", "/api/v1/files/:fileId", {
  params: fileParams,
  success: OneFile,
  error: [FileNotFound, FilesUnavailable]
}).annotate(OpenApi.Summary, "One file")

const deleteFile = HttpApiEndpoint.delete("deleteFile", "/api/v1/files/:fileId", {
  params: fileParams,
  success: HttpApiSchema.NoContent,
  error: [FileNotFound, problemSchema("CONVERSION_FINISHING", {}), FilesUnavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Deletes a file and its result",
    description: "A conversion that is under way is cancelled first; nothing is charged for it."
  })
)

const getResult = HttpApiEndpoint.get("getResult", "/api/v1/files/:fileId/result", {
  params: fileParams,
  success: Page,
  error: [FileNotFound, problemSchema("RESULT_NOT_READY", {}), FilesUnavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "The accessible HTML, one self-contained file",
    description:
      "Of the newest conversion that was completed: while the file is converted anew, and after a cancel or a failure, the " +
      "earlier result stays. It has an `ETag`; a download that broke off goes on by `Range`; it is compressed where gzip is accepted."
  })
)

/** Files and their conversions, each of one owner. */
export class FileGroup extends HttpApiGroup.make("files")
  .add(uploadFile)
  .add(listFiles)
  .add(getFile)
  .add(deleteFile)
  .add(getResult)
  .add(convertFile)
  .add(cancelConversion)
  .add(processNow)
  .add(streamConversion)
  .add(preserveFormatting)
  .add(reflowFlyer)
  .middleware(OwnerAccess) {}

/** Limit on an upload's body without the file, bytes. */
const MAX_FORM = 64 * 1024

/** Most event streams of one owner at once, in one process. */
export const MAX_STREAMS = 100

const viewOf = (file: StoredFile): typeof FileView.Type => ({
  id: file.id,
  name: file.name,
  sizeBytes: file.sizeBytes,
  pages: file.pages,
  status: file.status,
  phase: file.phase,
  batchWaiting: file.batchWaiting,
  jobId: file.jobId,
  progress: file.progress,
  error: file.error,
  hasResult: file.resultKey !== null,
  price: priceOf(file),
  createdAt: file.createdAt,
  unreadablePages: file.unreadablePages,
  hasText: file.hasText,
  noModelPages: file.noModelPages,
  made: file.made,
  leftOut: file.leftOut
})

/** One file, and what its conversion waits for. */
const one = (store: ConversionStore["Service"], file: StoredFile, batchSeconds: number) =>
  file.status === "processing" || file.status === "chunked_processing"
    ? store.waitFacts(file.id).pipe(
        Effect.catch(filesAway),
        Effect.map((facts) => ({
          file: {
            ...viewOf(file),
            ...(facts === undefined ? {} : { waitsFor: waitsFor(facts, batchSeconds) })
          }
        }))
      )
    : Effect.succeed({ file: viewOf(file) })

const fileTooLarge = problem("PAYLOAD_TOO_LARGE", `A file may hold ${MAX_FILE_BYTES} bytes at most`)
const noResult = problem("RESULT_NOT_READY", "The file has no result yet")
const noRoom = problem("FILE_LIMIT_REACHED", "You have as many files as your plan allows: delete some first")

/** Takes a file in while it arrives. */
const upload = (
  uploads: Uploads["Service"],
  customerId: CustomerId,
  request: HttpServerRequest.HttpServerRequest,
  name: string | undefined
) =>
  withUpload(request, { maxBytes: MAX_FILE_BYTES + MAX_FORM, name }, (incoming) =>
    uploads.add({ ...incoming, customerId })
  ).pipe(
    Effect.catchTags({
      BadUpload: ({ message }) => Effect.fail(invalidRequest([{ path: "", message }])),
      NoRoomForFile: () => Effect.fail(noRoom),
      FileTooLarge: () => Effect.fail(fileTooLarge),
      UnsupportedDocument: ({ found }) =>
        Effect.fail(
          problem(
            "UNSUPPORTED_FILE_TYPE",
            `PDF, DOCX, PNG and JPEG are converted; by its content this is ${found}`
          )
        ),
      UnreadableDocument: ({ message }) => Effect.fail(problem("UNREADABLE_FILE", message)),
      DocumentReaderAway: filesAway,
      // Asking again would change nothing: a 500 says so, and the log why.
      ObjectStoreError: (error) => (error.reason === "unsupported" ? Effect.die(error) : filesAway(error)),
      StoreUnavailable: filesAway
    })
  )

/** A page of the caller's files; the first one names a cursor only where there is more, or the query asks for a page. */
const list = Effect.fnUntraced(function* (
  store: ConversionStore["Service"],
  query: { readonly limit?: number | ""; readonly cursor?: string }
) {
  const { customerId } = yield* CurrentOwner
  const { files, nextCursor } = yield* store
    .files(customerId, { limit: query.limit || MAX_FILES_PAGE, cursor: query.cursor || undefined })
    .pipe(Effect.catchTags({ StoreUnavailable: filesAway, InvalidCursor: () => invalidCursor("list") }))
  const paged = query.limit !== undefined || query.cursor !== undefined || nextCursor !== null
  return { files: files.map(viewOf), ...(paged ? { nextCursor } : {}) }
})

/** Deletes a file, and stops its batch job. */
const remove = Effect.fnUntraced(function* (
  store: ConversionStore["Service"],
  batch: BatchControls["Service"],
  file: StoredFile
) {
  const answer = yield* store.deleteFile(file.id, file.customerId).pipe(Effect.catch(filesAway))
  if (answer === "not_found") return yield* Effect.fail(noFile)
  if (answer === "finishing") return yield* Effect.fail(finishing)
  if (file.jobId !== null) yield* batch.stopBatchJob(file.jobId)
})

/**
 * Files and conversions (DOC-1 to DOC-16, DOC-40 to DOC-44). `convertFile` is raw: a file that is not the caller's is a 404
 * before the body is read.
 */
export const fileHandlers = HttpApiBuilder.group(
  apiOf(FileGroup),
  "files",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ConversionStore
    const objects = yield* FileObjects
    const uploads = yield* Uploads
    const conversions = yield* Conversions
    const watching = yield* FileWatch
    const batch = yield* BatchControls
    const uploading = makePlaces(MAX_UPLOADS_AT_ONCE, "uploads")
    const streaming = makePlaces(MAX_STREAMS, "streams")
    const fileOf = ownFile(store)
    const batchSeconds = Duration.toSeconds(giveUpIn({ timeoutHours: yield* BatchTimeoutHours }))
    return handlers
      .handleRaw("convertFile", ({ params, request }) =>
        Effect.flatMap(fileOf(params.fileId), (file) => convert(conversions, file, request))
      )
      .handleRaw(
        "uploadFile",
        Effect.fnUntraced(function* ({ query, request }) {
          const { customerId } = yield* CurrentOwner
          if (Number(request.headers["content-length"] ?? 0) > MAX_FILE_BYTES + MAX_FORM) {
            return yield* Effect.fail(fileTooLarge)
          }
          yield* takePlace(uploading, customerId)
          return { file: viewOf(yield* upload(uploads, customerId, request, query.name)) }
        })
      )
      .handleAll({
        listFiles: ({ query }) => list(store, query),
        getFile: ({ params }) =>
          Effect.flatMap(fileOf(params.fileId), (file) => one(store, file, batchSeconds)),
        deleteFile: ({ params }) =>
          Effect.flatMap(fileOf(params.fileId), (file) => remove(store, batch, file)),
        getResult: Effect.fnUntraced(function* ({ params, request }) {
          const { resultKey } = yield* fileOf(params.fileId)
          if (resultKey === null) return yield* Effect.fail(noResult)
          return yield* resultResponse(objects, resultKey, request).pipe(Effect.catch(filesAway))
        }),
        cancelConversion: ({ params }) =>
          Effect.flatMap(fileOf(params.fileId), (file) => cancel(conversions, batch, file)),
        processNow: ({ params }) => Effect.flatMap(fileOf(params.fileId), (file) => convertNow(batch, file)),
        streamConversion: Effect.fnUntraced(function* ({ params, request }) {
          const file = yield* fileOf(params.fileId)
          const moment = momentOf(file)
          // What a browser takes for the end; it would open a stream that ended again and again.
          if (moment.event !== "progress" && hasSeen(request, moment)) return HttpServerResponse.empty()
          yield* takePlace(streaming, file.customerId)
          return eventStream(request, watching.watch(file))
        }),
        preserveFormatting: ({ params }) =>
          Effect.flatMap(fileOf(params.fileId), (file) => orderFlyer(conversions, file)),
        reflowFlyer: ({ params }) => chooseReflow(conversions, params.id)
      })
  })
)
