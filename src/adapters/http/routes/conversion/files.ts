import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { BatchControls } from "../../../../domain/batch/controls.ts"
import { Conversions } from "../../../../domain/conversion/conversions.ts"
import { MAX_UPLOADS_AT_ONCE } from "../../../../domain/conversion/file-room.ts"
import { FileWatch } from "../../../../domain/conversion/file-watch.ts"
import { MAX_FILE_BYTES, Uploads } from "../../../../domain/conversion/uploads.ts"
import { creditsFor } from "../../../../domain/inbound/page-class.ts"
import {
  ConversionStore,
  MAX_FILES_PAGE,
  type StoredFile
} from "../../../../ports/conversion/conversion-store.ts"
import { FileObjects, type ObjectStoreError } from "../../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { makePlaces } from "../../server/places.ts"
import { invalidCursor, invalidRequest, problem, problemResponse } from "../../server/problem.ts"
import { eventStream, resultResponse } from "../../server/responses.ts"
import { CurrentOwner } from "../../server/session.ts"
import { withUpload } from "../../server/upload-body.ts"
import { FileGroup, ConvertRequest, type FileView } from "./file-api.ts"
import { refuseInternalOptions, filesUnavailable, noFile, noFlyer, ownFile, UUID } from "./own-file.ts"

/** Largest JSON body of these routes, bytes. */
const MAX_BODY = 64 * 1024

/** The price of a file's pages, the same for every way of converting. */
const priceOf = ({ pages }: StoredFile): number => creditsFor({ standard: pages, complex: 0 })

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
  hasText: file.hasText
})

const insufficient = problem(
  "INSUFFICIENT_CREDITS",
  "There are not enough credits for its pages; buy more, or convert less"
)
const noRoom = problem("FILE_LIMIT_REACHED", "You have as many files as your plan allows: delete some first")

/** The answer to an owner that holds too much at once. */
const busy = (most: string) =>
  problemResponse(problem("RATE_LIMITED", `An account has ${most} at once`), { "retry-after": "30" })
const active = problem(
  "CONVERSION_ACTIVE",
  "A conversion of this file is under way: wait for it, or cancel it"
)
const finishing = problem("CONVERSION_FINISHING", "The result is being put together; it is there in a moment")

const json = (body: object, status: number) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

const storeDown = (failure: StoreUnavailable | ObjectStoreError) =>
  filesUnavailable(failure).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))

const decodeConvert = bodyDecoder(ConvertRequest)

/** Files and conversions (DOC-1 to DOC-16, DOC-40 to DOC-44). */
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
    const bodies = yield* makeJsonBodies

    const uploading = makePlaces(MAX_UPLOADS_AT_ONCE)
    const streaming = makePlaces(MAX_STREAMS)

    const fileOf = ownFile(store)

    return handlers
      .handleRaw("uploadFile", ({ query, request }) =>
        Effect.gen(function* () {
          const { customerId } = yield* CurrentOwner
          if (Number(request.headers["content-length"] ?? 0) > MAX_FILE_BYTES + MAX_BODY) {
            return problemResponse(
              problem("PAYLOAD_TOO_LARGE", `A file may hold ${MAX_FILE_BYTES} bytes at most`)
            )
          }
          if (!(yield* uploading.take(customerId))) return busy(`${MAX_UPLOADS_AT_ONCE} uploads`)
          const file = yield* withUpload(
            request,
            { maxBytes: MAX_FILE_BYTES + MAX_BODY, name: query.name },
            (incoming) => uploads.add({ ...incoming, customerId })
          )
          return json({ file: viewOf(file) }, 201)
        }).pipe(
          Effect.catchTags({
            BadUpload: ({ message }) =>
              Effect.succeed(problemResponse(invalidRequest([{ path: "", message }]))),
            NoRoomForFile: () => Effect.succeed(problemResponse(noRoom)),
            FileTooLarge: () =>
              Effect.succeed(
                problemResponse(
                  problem("PAYLOAD_TOO_LARGE", `A file may hold ${MAX_FILE_BYTES} bytes at most`)
                )
              ),
            UnsupportedDocument: ({ found }) =>
              Effect.succeed(
                problemResponse(
                  problem(
                    "UNSUPPORTED_FILE_TYPE",
                    `PDF, DOCX, PNG and JPEG are converted; by its content this is ${found}`
                  )
                )
              ),
            UnreadableDocument: ({ message }) =>
              Effect.succeed(problemResponse(problem("UNREADABLE_FILE", message))),
            ObjectStoreError: storeDown,
            StoreUnavailable: storeDown
          })
        )
      )
      .handle("listFiles", ({ query }) =>
        Effect.gen(function* () {
          const { customerId } = yield* CurrentOwner
          const { files, nextCursor } = yield* store
            .files(customerId, { limit: query.limit || MAX_FILES_PAGE, cursor: query.cursor || undefined })
            .pipe(
              Effect.catchTags({
                StoreUnavailable: filesUnavailable,
                InvalidCursor: () => invalidCursor("list")
              })
            )
          const paged = query.limit !== undefined || query.cursor !== undefined || nextCursor !== null
          return { files: files.map(viewOf), ...(paged ? { nextCursor } : {}) }
        })
      )
      .handle("getFile", ({ params }) =>
        Effect.map(fileOf(params.fileId), (file) => ({ file: viewOf(file) }))
      )
      .handle("deleteFile", ({ params }) =>
        Effect.gen(function* () {
          const file = yield* fileOf(params.fileId)
          const answer = yield* store
            .deleteFile(file.id, file.customerId)
            .pipe(Effect.catch(filesUnavailable))
          if (answer === "not_found") return yield* Effect.fail(noFile)
          if (answer === "finishing") return yield* Effect.fail(finishing)
          if (file.jobId !== null) yield* batch.stopBatchJob(file.jobId)
        })
      )
      .handleRaw("getResult", ({ params }) =>
        Effect.gen(function* () {
          const file = yield* fileOf(params.fileId)
          if (file.resultKey === null) {
            return problemResponse(problem("RESULT_NOT_READY", "The file has no result yet"))
          }
          return yield* resultResponse(objects, file.resultKey)
        }).pipe(
          Effect.catchTag("ObjectStoreError", filesUnavailable),
          Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
        )
      )
      .handleRaw("convertFile", ({ params, request }) =>
        Effect.gen(function* () {
          const file = yield* fileOf(params.fileId)
          const body =
            request.headers["content-length"] === "0" || request.headers["content-type"] === undefined
              ? {}
              : yield* bodies
                  .read(request, MAX_BODY)
                  .pipe(Effect.flatMap(refuseInternalOptions), Effect.flatMap(decodeConvert))
          const started = yield* conversions
            .convert({ fileId: file.id, customerId: file.customerId, options: body.options ?? {} })
            .pipe(Effect.catch(filesUnavailable))
          switch (started.answer) {
            case "queued":
              return json({ job: { id: started.id, status: started.status, price: priceOf(file) } }, 202)
            case "not_found":
              return problemResponse(noFile)
            case "active":
              return problemResponse(active)
            case "insufficient":
              return problemResponse(insufficient)
          }
        }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
      )
      .handle("cancelConversion", ({ params }) =>
        Effect.gen(function* () {
          const { id, customerId } = yield* fileOf(params.fileId)
          const cancelled = yield* conversions
            .cancel({ fileId: id, customerId })
            .pipe(Effect.catch(filesUnavailable))
          switch (cancelled.answer) {
            case "cancelled":
              yield* batch.stopBatchJob(cancelled.jobId)
              return { fileId: id, jobId: cancelled.jobId, status: "cancelled" as const }
            case "not_found":
              return yield* Effect.fail(noFile)
            case "finishing":
              return yield* Effect.fail(finishing)
            case "inline":
              return yield* Effect.fail(
                problem(
                  "CONVERSION_INLINE",
                  "Documents and pictures of this kind are converted in one go: wait for the result, or delete the file"
                )
              )
            case "not_active":
              return yield* Effect.fail(problem("NOT_CONVERTING", "No conversion of this file is under way"))
          }
        })
      )
      .handle("processNow", ({ params }) =>
        Effect.gen(function* () {
          const { id, customerId } = yield* fileOf(params.fileId)
          const moved = yield* batch
            .processNow({ fileId: id, customerId })
            .pipe(Effect.catch(filesUnavailable))
          switch (moved.answer) {
            case "moved":
              return { fileId: id, jobId: moved.jobId, status: moved.status }
            case "not_found":
              return yield* Effect.fail(noFile)
            case "not_waiting":
              return yield* Effect.fail(
                problem("NOT_BATCH_WAITING", "No conversion of this file waits for the batch")
              )
          }
        })
      )
      .handleRaw("streamConversion", ({ params }) =>
        Effect.gen(function* () {
          const file = yield* fileOf(params.fileId)
          return (yield* streaming.take(file.customerId))
            ? eventStream(watching.watch(file))
            : busy(`${MAX_STREAMS} streams`)
        }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
      )
      .handle("preserveFormatting", ({ params }) =>
        Effect.gen(function* () {
          const file = yield* fileOf(params.fileId)
          const { answer, id } = yield* conversions
            .preserveFormatting({ fileId: file.id, customerId: file.customerId })
            .pipe(Effect.catch(filesUnavailable))
          switch (answer) {
            case "queued":
              return { flyerJob: { id, status: "pending" as const, price: priceOf(file) } }
            case "not_found":
              return yield* Effect.fail(noFile)
            case "active":
              return yield* Effect.fail(active)
            case "insufficient":
              return yield* Effect.fail(insufficient)
            case "unsupported":
              return yield* Effect.fail(
                problem("UNSUPPORTED_FILE_TYPE", "Only PDFs have a formatting to preserve")
              )
          }
        })
      )
      .handle("reflowFlyer", ({ params }) =>
        Effect.gen(function* () {
          const { customerId } = yield* CurrentOwner
          if (!UUID.test(params.id)) return yield* Effect.fail(noFlyer)
          const started = yield* conversions
            .reflow({ flyerId: params.id, customerId })
            .pipe(Effect.catch(filesUnavailable))
          switch (started.answer) {
            case "queued":
              return { job: { id: started.id, status: started.status, price: 0 } }
            case "not_found":
              return yield* Effect.fail(noFlyer)
            case "active":
            case "insufficient":
              return yield* Effect.fail(active)
            case "resolved":
              return yield* Effect.fail(
                problem("ALREADY_RESOLVED", "The free reflow was chosen already, or is not offered")
              )
          }
        })
      )
  })
)
