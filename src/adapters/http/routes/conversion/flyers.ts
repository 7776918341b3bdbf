import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import type { Conversions } from "../../../../application/conversion/conversions.ts"
import type { StoredFile } from "../../../../domain/conversion/file.ts"
import { waitsFor, WaitsFor } from "../../../../domain/conversion/waiting.ts"
import { FlyerId } from "../../../../domain/ids.ts"
import { ConversionStore, type StoredFlyer } from "../../../../ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../ports/object-store.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf, isUuid, Page } from "../../server/endpoint.ts"
import { onceHeaders, onceRefusals, RepeatsWithoutKey } from "../../server/once.ts"
import { problem, problemSchema } from "../../server/problem.ts"
import { resultResponse } from "../../server/responses.ts"
import {
  active,
  filesAway,
  FilesUnavailable,
  insufficient,
  fileParams,
  JobView,
  noFile,
  ownFile,
  Price,
  priceOf,
  resolved,
  startRefusals
} from "./own-file.ts"

/** A flyer job as its owner sees it: a layout-true result of a PDF ("Preserve Formatting"). */
const FlyerJobView = Schema.Struct({
  id: Schema.String,
  fileId: Schema.String,
  status: Schema.Literals(["pending", "processing", "completed", "failed"]),
  error: Schema.NullOr(Schema.String).annotate({ description: "Why it has failed." }),
  compConversionId: Schema.NullOr(Schema.String).annotate({
    description: "The conversion that was chosen instead, free of charge."
  }),
  createdAt: Schema.String,
  unreadablePages: Schema.Array(Schema.Int).annotate({
    description:
      "Pages of the result, from 1, that could not be read: each has a note in its place and was not charged."
  }),
  /** Why the flyer under way may be waiting. */
  waitsFor: Schema.optionalKey(WaitsFor)
}).annotate({ identifier: "FlyerJob" })

const idParam = { id: FlyerId }
const Unavailable = problemSchema("UNAVAILABLE", {})
const NotFound = problemSchema("NOT_FOUND", {})

/** Reads and cancels flyer jobs; the routes of files create and reflow them. */
export class FlyerGroup extends HttpApiGroup.make("flyers")
  .add(
    HttpApiEndpoint.get("listFlyerJobs", "/api/v1/files/:fileId/flyer-jobs", {
      params: fileParams,
      success: Schema.Struct({ flyerJobs: Schema.Array(FlyerJobView) }),
      error: [problemSchema("FILE_NOT_FOUND", {}), Unavailable]
    }).annotate(OpenApi.Summary, "The flyer jobs of a file, newest first")
  )
  .add(
    HttpApiEndpoint.get("getFlyerJob", "/api/v1/flyer-jobs/:id", {
      params: idParam,
      success: Schema.Struct({ flyerJob: FlyerJobView }),
      error: [NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "One flyer job; it is gone with its file")
  )
  .add(
    HttpApiEndpoint.get("getFlyerResult", "/api/v1/flyer-jobs/:id/result", {
      params: idParam,
      success: Page,
      error: [NotFound, problemSchema("RESULT_NOT_READY", {}), Unavailable]
    }).annotate(OpenApi.Summary, "The layout-true HTML, one self-contained file")
  )
  .add(
    HttpApiEndpoint.post("cancelFlyer", "/api/v1/flyer-jobs/:id/cancel", {
      params: idParam,
      success: Schema.Struct({ flyerJob: FlyerJobView }),
      error: [NotFound, problemSchema("NOT_CONVERTING", {}), Unavailable]
    })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Stops a flyer job that is under way and keeps the file; nothing is charged",
          description: "It is `failed` then, with an error that tells who stopped it."
        })
      )
      .annotate(RepeatsWithoutKey, "What is stopped stays so")
  )
  .middleware(OwnerAccess) {}

const viewOf = (flyer: StoredFlyer): typeof FlyerJobView.Type => ({
  id: flyer.id,
  fileId: flyer.fileId,
  status: flyer.status,
  error: flyer.error,
  compConversionId: flyer.compConversionId,
  createdAt: flyer.createdAt,
  unreadablePages: flyer.unreadablePages
})

/** One flyer job, and what it waits for: the daily budget and the batch lane do not hold it. */
const seen = (store: ConversionStore["Service"], flyer: StoredFlyer) =>
  flyer.status === "pending" || flyer.status === "processing"
    ? store.flyerWaitFacts(flyer.id).pipe(
        Effect.catch(filesAway),
        Effect.map((facts) => ({
          ...viewOf(flyer),
          ...(facts === undefined ? {} : { waitsFor: waitsFor(facts, 0) })
        }))
      )
    : Effect.succeed(viewOf(flyer))

export const preserveFormatting = HttpApiEndpoint.post(
  "preserveFormatting",
  "/api/v1/files/:fileId/preserve-formatting",
  {
    params: fileParams,
    headers: onceHeaders,
    success: Schema.Struct({
      flyerJob: Schema.Struct({ id: Schema.String, status: Schema.Literal("pending"), price: Price })
    }).pipe(HttpApiSchema.status(202)),
    error: [...startRefusals, ...onceRefusals, problemSchema("UNSUPPORTED_FILE_TYPE", {})]
  }
).annotate(OpenApi.Summary, "Asks for a layout-true result of a PDF")

export const reflowFlyer = HttpApiEndpoint.post("reflowFlyer", "/api/v1/flyer-jobs/:id/reflow", {
  params: idParam,
  headers: onceHeaders,
  success: JobView.pipe(HttpApiSchema.status(202)),
  error: [
    ...onceRefusals,
    problemSchema("NOT_FOUND", {}),
    problemSchema("CONVERSION_ACTIVE", {}),
    problemSchema("ALREADY_RESOLVED", {}),
    FilesUnavailable
  ]
}).annotate(OpenApi.Summary, "Chooses the reflowed result instead, once and free of charge")

const noFlyer = problem("NOT_FOUND", "There is no such job")
const ended = problem("NOT_CONVERTING", "The flyer job has ended")

/** Asks for a layout-true result of a file. */
export const orderFlyer = Effect.fnUntraced(function* (
  conversions: Conversions["Service"],
  file: StoredFile,
  callId: string
) {
  const { answer, id } = yield* conversions
    .preserveFormatting({ callId, fileId: file.id, customerId: file.customerId })
    .pipe(Effect.catch(filesAway))
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
      return yield* Effect.fail(problem("UNSUPPORTED_FILE_TYPE", "Only PDFs have a formatting to preserve"))
  }
})

/** Chooses the reflowed result of a flyer job instead. */
export const chooseReflow = Effect.fnUntraced(function* (
  conversions: Conversions["Service"],
  flyerId: FlyerId,
  callId: string
) {
  const { customerId } = yield* CurrentOwner
  if (!isUuid(flyerId)) return yield* Effect.fail(noFlyer)
  const started = yield* conversions.reflow({ callId, flyerId, customerId }).pipe(Effect.catch(filesAway))
  switch (started.answer) {
    case "queued":
      return { job: { id: started.id, status: started.status, price: 0 } }
    case "not_found":
      return yield* Effect.fail(noFlyer)
    case "active":
    case "insufficient":
      return yield* Effect.fail(active)
    case "resolved":
      return yield* Effect.fail(resolved)
  }
})

/** A flyer job of the caller's; anything else, somebody else's included, is 404. */
const ownFlyer = (store: ConversionStore["Service"]) =>
  Effect.fnUntraced(function* (flyerId: FlyerId) {
    const { customerId } = yield* CurrentOwner
    if (!isUuid(flyerId)) return yield* Effect.fail(noFlyer)
    const flyer = yield* store.flyer(flyerId, customerId).pipe(Effect.catch(filesAway))
    return flyer ?? (yield* Effect.fail(noFlyer))
  })

/** Flyer jobs and their results. */
export const flyerHandlers = HttpApiBuilder.group(
  apiOf(FlyerGroup),
  "flyers",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ConversionStore
    const objects = yield* FileObjects
    const fileOf = ownFile(store)
    const flyerOf = ownFlyer(store)
    return handlers.handleAll({
      cancelFlyer: Effect.fnUntraced(function* ({ params }) {
        const { id, status } = yield* flyerOf(params.id)
        if (status !== "pending" && status !== "processing") return yield* Effect.fail(ended)
        const { customerId } = yield* CurrentOwner
        const answer = yield* store.cancelFlyer(id, customerId).pipe(Effect.catch(filesAway))
        if (answer === "not_active") return yield* Effect.fail(ended)
        return { flyerJob: viewOf(yield* flyerOf(id)) }
      }),
      listFlyerJobs: Effect.fnUntraced(function* ({ params }) {
        const { id, customerId } = yield* fileOf(params.fileId)
        const flyers = yield* store.flyersOf(id, customerId).pipe(Effect.catch(filesAway))
        return { flyerJobs: yield* Effect.forEach(flyers, (flyer) => seen(store, flyer)) }
      }),
      getFlyerJob: ({ params }) =>
        flyerOf(params.id).pipe(
          Effect.flatMap((flyer) => seen(store, flyer)),
          Effect.map((flyerJob) => ({ flyerJob }))
        ),
      getFlyerResult: Effect.fnUntraced(function* ({ params, request }) {
        const { resultKey, status } = yield* flyerOf(params.id)
        if (status !== "completed" || resultKey === null) {
          const detail = status === "failed" ? "The flyer job has failed" : "The flyer job has no result yet"
          return yield* Effect.fail(problem("RESULT_NOT_READY", detail))
        }
        return yield* resultResponse(objects, resultKey, request).pipe(Effect.catch(filesAway))
      })
    })
  })
)
