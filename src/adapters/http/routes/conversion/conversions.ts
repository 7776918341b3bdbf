import { Schema, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"

import type { BatchControls } from "../../../../application/batch/controls.ts"
import type { Conversions } from "../../../../application/conversion/conversions.ts"
import type { StoredFile } from "../../../../domain/conversion/file.ts"
import { ConversionOptions, JobStatus } from "../../../../domain/conversion/job.ts"
import { bodyMayBeLeftOut, readJsonIfAny } from "../../server/json-body.ts"
import { onceHeaders, onceRefusals, RepeatsWithoutKey } from "../../server/once.ts"
import { bodyDecoder, bodyRefusals, problem, problemSchema } from "../../server/problem.ts"
import {
  active,
  FileNotFound,
  filesAway,
  FilesUnavailable,
  finishing,
  insufficient,
  fileParams,
  JobView,
  noFile,
  priceOf,
  refuseInternalOptions,
  startRefusals
} from "./own-file.ts"

/** Largest body that starts a conversion, bytes. */
const MAX_BODY = 64 * 1024

/** The body that starts a conversion. */
const ConvertRequest = Schema.Struct({
  options: Schema.optionalKey(ConversionOptions)
}).annotate({ identifier: "ConvertRequest" })

const decodeConvert = bodyDecoder(ConvertRequest)

const Moved = Schema.Struct({ fileId: Schema.String, jobId: Schema.String, status: JobStatus })

export const convertFile = HttpApiEndpoint.post("convertFile", "/api/v1/files/:fileId/convert", {
  params: fileParams,
  headers: onceHeaders,
  payload: ConvertRequest,
  success: JobView.pipe(HttpApiSchema.status(202)),
  error: [...bodyRefusals(), ...startRefusals, ...onceRefusals]
})
  .annotateMerge(bodyMayBeLeftOut)
  .annotateMerge(
    OpenApi.annotations({
      summary: "Starts the conversion",
      description:
        "One credit a page, set aside now and charged when the result is stored; nothing on failure or cancel. Converting again " +
        "costs the same again; the earlier result stays until the new one is stored."
    })
  )

export const cancelConversion = HttpApiEndpoint.post("cancelConversion", "/api/v1/files/:fileId/cancel", {
  params: fileParams,
  success: Moved,
  error: [
    FileNotFound,
    problemSchema("CONVERSION_FINISHING", {}),
    problemSchema("CONVERSION_INLINE", {}),
    problemSchema("NOT_CONVERTING", {}),
    FilesUnavailable
  ]
})
  .annotate(OpenApi.Summary, "Stops the conversion and keeps the file; nothing is charged")
  .annotate(RepeatsWithoutKey, "What is stopped stays so")

export const processNow = HttpApiEndpoint.post("processNow", "/api/v1/files/:fileId/process-now", {
  params: fileParams,
  success: Moved,
  error: [FileNotFound, problemSchema("NOT_BATCH_WAITING", {}), FilesUnavailable]
})
  .annotateMerge(
    OpenApi.annotations({
      summary: "Converts now what waits for the batch",
      description:
        "Where the batch results are just there, the conversion is left to go on with them, and `status` may still be " +
        "`waiting_batch` for a moment."
    })
  )
  .annotate(RepeatsWithoutKey, "A conversion that was taken out of the batch lane is under way")

export const streamConversion = HttpApiEndpoint.get("streamConversion", "/api/convert/:fileId/stream", {
  params: fileParams,
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
  error: [FileNotFound, problemSchema("RATE_LIMITED", {}), FilesUnavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Progress as server-sent events",
    description:
      "Events `progress`, `completed`, `failed`, `cancelled`; data `{fileId, jobId, status, phase, done, total, readyPages}`; " +
      "`readyPages` are ranges `{first, last}` of pages that can be looked at before the result is there. The first is the state now; the stream closes after a terminal one. A comment every 15 s keeps proxies open."
  })
)

/** Reads the body that starts a conversion. */
export const convertBody = (request: HttpServerRequest.HttpServerRequest) => readJsonIfAny(request, MAX_BODY)

/** The options in a request's body; one without a body names none. */
const optionsIn = (body: unknown) =>
  body === undefined
    ? Effect.succeed({})
    : refuseInternalOptions(body).pipe(
        Effect.flatMap(decodeConvert),
        Effect.map(({ options }) => options ?? {})
      )

/** Starts a conversion of a file. */
export const convert = Effect.fnUntraced(function* (
  conversions: Conversions["Service"],
  file: StoredFile,
  { body, callId }: { readonly body: unknown; readonly callId: string }
) {
  const options = yield* optionsIn(body)
  const started = yield* conversions
    .convert({ callId, fileId: file.id, customerId: file.customerId, options })
    .pipe(Effect.catch(filesAway))
  switch (started.answer) {
    case "queued":
      return { job: { id: started.id, status: started.status, price: priceOf(file) } }
    case "not_found":
      return yield* Effect.fail(noFile)
    case "active":
      return yield* Effect.fail(active)
    case "insufficient":
      return yield* Effect.fail(insufficient)
  }
})

const inline = problem(
  "CONVERSION_INLINE",
  "Documents and pictures of this kind are converted in one go: wait for the result, or delete the file"
)

/** Cancels a file's conversion, and stops its batch job. */
export const cancel = Effect.fnUntraced(function* (
  conversions: Conversions["Service"],
  batch: BatchControls["Service"],
  { customerId, id }: StoredFile
) {
  const cancelled = yield* conversions.cancel({ fileId: id, customerId }).pipe(Effect.catch(filesAway))
  switch (cancelled.answer) {
    case "cancelled":
      yield* batch.stopBatchJob(cancelled.jobId)
      return { fileId: id, jobId: cancelled.jobId, status: "cancelled" as const }
    case "not_found":
      return yield* Effect.fail(noFile)
    case "finishing":
      return yield* Effect.fail(finishing)
    case "inline":
      return yield* Effect.fail(inline)
    case "not_active":
      return yield* Effect.fail(problem("NOT_CONVERTING", "No conversion of this file is under way"))
  }
})

/** Takes a file's conversion out of the batch lane. */
export const convertNow = Effect.fnUntraced(function* (
  batch: BatchControls["Service"],
  { customerId, id }: StoredFile
) {
  const moved = yield* batch.processNow({ fileId: id, customerId }).pipe(Effect.catch(filesAway))
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
