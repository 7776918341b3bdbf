import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { ConversionStore, type StoredFlyer } from "../../../../ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../ports/object-store.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, problem, problemResponse } from "../../server/problem.ts"
import { resultResponse } from "../../server/responses.ts"
import { OwnerAccess, CurrentOwner } from "../../server/session.ts"
import { filesUnavailable, noFlyer, ownFile, UUID } from "./own-file.ts"

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
  })
}).annotate({ identifier: "FlyerJob" })

const idParam = { id: Schema.String }
const NotFound = problemSchema("NOT_FOUND", {})
const Unavailable = problemSchema("UNAVAILABLE", {})

/** Reads and cancels flyer jobs; the routes of files create and reflow them. */
export class FlyerGroup extends HttpApiGroup.make("flyers")
  .add(
    HttpApiEndpoint.get("listFlyerJobs", "/api/v1/files/:fileId/flyer-jobs", {
      params: { fileId: Schema.String },
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
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html; charset=utf-8" })),
      error: [NotFound, problemSchema("RESULT_NOT_READY", {}), Unavailable]
    }).annotate(OpenApi.Summary, "The layout-true HTML, one self-contained file")
  )
  .add(
    HttpApiEndpoint.post("cancelFlyer", "/api/v1/flyer-jobs/:id/cancel", {
      params: idParam,
      success: Schema.Struct({ flyerJob: FlyerJobView }),
      error: [NotFound, problemSchema("NOT_CONVERTING", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stops a flyer job that is under way and keeps the file; nothing is charged",
        description: "It is `failed` then, with an error that tells who stopped it."
      })
    )
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

/** Flyer jobs and their results. */
export const flyerHandlers = HttpApiBuilder.group(
  apiOf(FlyerGroup),
  "flyers",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ConversionStore
    const objects = yield* FileObjects

    const fileOf = ownFile(store)

    /** A flyer job of the caller's; anything else, somebody else's included, is 404. */
    const flyerOf = Effect.fnUntraced(function* (flyerId: string) {
      const { customerId } = yield* CurrentOwner
      if (!UUID.test(flyerId)) return yield* Effect.fail(noFlyer)
      const flyer = yield* store.flyer(flyerId, customerId).pipe(Effect.catch(filesUnavailable))
      return flyer ?? (yield* Effect.fail(noFlyer))
    })

    const ended = problem("NOT_CONVERTING", "The flyer job has ended")

    return handlers
      .handle("cancelFlyer", ({ params }) =>
        Effect.gen(function* () {
          const { id, status } = yield* flyerOf(params.id)
          if (status !== "pending" && status !== "processing") return yield* Effect.fail(ended)
          const { customerId } = yield* CurrentOwner
          const answer = yield* store.cancelFlyer(id, customerId).pipe(Effect.catch(filesUnavailable))
          if (answer === "not_active") return yield* Effect.fail(ended)
          return { flyerJob: viewOf(yield* flyerOf(id)) }
        })
      )
      .handle("listFlyerJobs", ({ params }) =>
        Effect.gen(function* () {
          const { id, customerId } = yield* fileOf(params.fileId)
          const flyers = yield* store.flyersOf(id, customerId).pipe(Effect.catch(filesUnavailable))
          return { flyerJobs: flyers.map(viewOf) }
        })
      )
      .handle("getFlyerJob", ({ params }) =>
        Effect.map(flyerOf(params.id), (flyer) => ({ flyerJob: viewOf(flyer) }))
      )
      .handleRaw("getFlyerResult", ({ params }) =>
        Effect.gen(function* () {
          const { resultKey, status } = yield* flyerOf(params.id)
          if (status !== "completed" || resultKey === null) {
            const detail =
              status === "failed" ? "The flyer job has failed" : "The flyer job has no result yet"
            return problemResponse(problem("RESULT_NOT_READY", detail))
          }
          return yield* resultResponse(objects, resultKey)
        }).pipe(
          Effect.catchTag("ObjectStoreError", filesUnavailable),
          Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
        )
      )
  })
)
