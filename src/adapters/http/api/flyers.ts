import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { problemSchema } from "../problem.ts"
import { OwnerAccess } from "./access.ts"

/** A flyer job as its owner sees it: a layout-true result of a PDF ("Preserve Formatting"). */
export const FlyerJobView = Schema.Struct({
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

const id = { id: Schema.String }
const NotFound = problemSchema("NOT_FOUND", {})
const Unavailable = problemSchema("UNAVAILABLE", {})

/** Flyer jobs to look at; asked for and chosen against with the routes of files. */
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
      params: id,
      success: Schema.Struct({ flyerJob: FlyerJobView }),
      error: [NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "One flyer job; it is gone with its file")
  )
  .add(
    HttpApiEndpoint.get("getFlyerResult", "/api/v1/flyer-jobs/:id/result", {
      params: id,
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html; charset=utf-8" })),
      error: [NotFound, problemSchema("RESULT_NOT_READY", {}), Unavailable]
    }).annotate(OpenApi.Summary, "The layout-true HTML, one self-contained file")
  )
  .add(
    HttpApiEndpoint.post("cancelFlyer", "/api/v1/flyer-jobs/:id/cancel", {
      params: id,
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
