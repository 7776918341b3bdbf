import { Duration, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { BatchControls } from "../../../../application/batch/controls.ts"
import { BatchTimeoutHours, giveUpIn } from "../../../../application/batch/lane-settings.ts"
import { Conversions } from "../../../../application/conversion/conversions.ts"
import { FileWatch } from "../../../../application/conversion/file-watch.ts"
import { Uploads } from "../../../../application/conversion/uploads.ts"
import type { StoredFile } from "../../../../domain/conversion/file.ts"
import { momentOf, previewedJob, readyPagesOf } from "../../../../domain/conversion/progress.ts"
import { MAX_UPLOADS_AT_ONCE } from "../../../../domain/conversion/stored-files.ts"
import { waitsFor } from "../../../../domain/conversion/waiting.ts"
import type { FileId, JobId } from "../../../../domain/ids.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { makeOnce } from "../../server/once.ts"
import { problemSchema } from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { eventStream, hasSeen } from "../../server/responses.ts"
import {
  cancel,
  cancelConversion,
  convert,
  convertBody,
  convertFile,
  convertNow,
  processNow,
  streamConversion
} from "./conversions.ts"
import { OneFile, viewOf } from "./file-view.ts"
import { chooseReflow, orderFlyer, preserveFormatting, reflowFlyer } from "./flyers.ts"
import {
  getJob,
  listFiles,
  listFilesV1,
  listFrom,
  type Listing,
  makeGetJob,
  makeWaiting,
  type Wait,
  wait,
  waitRefusals
} from "./lookups.ts"
import {
  fileParams,
  FileNotFound,
  filesAway,
  FilesUnavailable,
  finishing,
  noFile,
  ownFile
} from "./own-file.ts"
import { getResult, getResultPicture, makeResults, type ResultQuery } from "./result.ts"
import { refuseTooLarge, upload, uploadFile, uploadHash } from "./uploads.ts"

const getFile = HttpApiEndpoint.get("getFile", "/api/v1/files/:fileId", {
  params: fileParams,
  query: wait,
  success: OneFile,
  error: [...waitRefusals, FileNotFound, FilesUnavailable]
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

/** Files and their conversions, each of one owner. */
export class FileGroup extends HttpApiGroup.make("files")
  .add(uploadFile)
  .add(listFiles)
  .add(listFilesV1)
  .add(getJob)
  .add(getFile)
  .add(deleteFile)
  .add(getResult)
  .add(getResultPicture)
  .add(convertFile)
  .add(cancelConversion)
  .add(processNow)
  .add(streamConversion)
  .add(preserveFormatting)
  .add(reflowFlyer)
  .middleware(OwnerAccess) {}

/** Most event streams of one owner at once, in one process. */
export const MAX_STREAMS = 100

/** One file; of one that is being converted also what it waits for, and which of its pages are ready. */
const one = Effect.fnUntraced(function* (
  store: ConversionStore["Service"],
  file: StoredFile,
  batchSeconds: number
) {
  const view = viewOf(file)
  if (file.status !== "processing" && file.status !== "chunked_processing") return { file: view }
  const jobId = previewedJob(file)
  const [facts, chunks] = yield* Effect.all(
    [store.waitFacts(file.id), jobId === undefined ? Effect.succeed([]) : store.chunkResults(jobId)],
    { concurrency: "unbounded" }
  )
  const waiting = facts === undefined ? {} : { waitsFor: waitsFor(facts, batchSeconds) }
  return { file: { ...view, ...waiting, readyPages: readyPagesOf(chunks) } }
}, Effect.catch(filesAway))

/** Handlers that change nothing. */
const makeReading = Effect.gen(function* () {
  const store = yield* ConversionStore
  const results = yield* makeResults
  const waitFor = yield* makeWaiting
  const jobOf = yield* makeGetJob
  const fileOf = ownFile(store)
  const list = listFrom(store)
  const batchSeconds = Duration.toSeconds(giveUpIn({ timeoutHours: yield* BatchTimeoutHours }))
  type File = { readonly params: { readonly fileId: FileId } }
  type Asked = { readonly request: HttpServerRequest.HttpServerRequest }
  return {
    listFiles: ({ query }: { readonly query: Listing }) => list(query),
    searchFiles: ({ query }: { readonly query: Listing }) => list(query),
    getJob: ({ params, query }: { readonly params: { readonly jobId: JobId }; readonly query: Wait }) =>
      jobOf(params.jobId, query.wait),
    getFile: Effect.fnUntraced(function* ({ params, query }: File & { readonly query: Wait }) {
      const file = yield* fileOf(params.fileId)
      if (!query.wait) return yield* one(store, file, batchSeconds)
      yield* waitFor(file.customerId, [file], query.wait)
      return yield* one(store, yield* fileOf(params.fileId), batchSeconds)
    }),
    getResult: ({ params, query, request }: File & Asked & { readonly query: ResultQuery }) =>
      Effect.flatMap(fileOf(params.fileId), (file) => results.result(file, request, query)),
    getResultPicture: ({
      params,
      request
    }: Asked & { readonly params: { readonly fileId: FileId; readonly picture: string } }) =>
      Effect.flatMap(fileOf(params.fileId), (file) => results.picture(file, params.picture, request))
  }
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
    const uploads = yield* Uploads
    const conversions = yield* Conversions
    const watching = yield* FileWatch
    const batch = yield* BatchControls
    const uploading = makePlaces(MAX_UPLOADS_AT_ONCE, "uploads")
    const streaming = makePlaces(MAX_STREAMS, "streams")
    const fileOf = ownFile(store)
    const once = yield* makeOnce
    const reading = yield* makeReading
    return handlers
      .handleRaw("convertFile", ({ headers, params, request }) =>
        once(
          { headers, route: ["convertFile", params.fileId], body: convertBody(request) },
          ({ id: callId }, given) =>
            Effect.flatMap(fileOf(params.fileId), (file) =>
              Effect.flatMap(given, (body) => convert(conversions, file, { body, callId }))
            )
        )
      )
      .handleRaw(
        "uploadFile",
        Effect.fnUntraced(function* ({ headers, query: { name, reference }, request }) {
          const { customerId } = yield* CurrentOwner
          yield* refuseTooLarge(request)
          yield* takePlace(uploading, customerId)
          const route = ["uploadFile", name ?? null, reference ?? null] as const
          return yield* once(
            { headers, route, body: Effect.undefined, contentHash: uploadHash({ name, request }) },
            (call) =>
              Effect.map(upload(uploads, { customerId, call, request, name, reference }), (file) => ({
                file: viewOf(file)
              }))
          )
        })
      )
      .handleAll({
        ...reading,
        deleteFile: ({ params }) =>
          Effect.flatMap(fileOf(params.fileId), (file) => remove(store, batch, file)),
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
        preserveFormatting: ({ headers, params: { fileId } }) =>
          once({ headers, route: ["preserveFormatting", fileId], body: Effect.undefined }, (call) =>
            Effect.flatMap(fileOf(fileId), (file) => orderFlyer(conversions, file, call.id))
          ),
        reflowFlyer: ({ headers, params: { id } }) =>
          once({ headers, route: ["reflowFlyer", id], body: Effect.undefined }, (call) =>
            chooseReflow(conversions, id, call.id)
          )
      })
  })
)
