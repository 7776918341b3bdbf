import { Schema, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { MAX_BULK_ITEMS, BulkConversions } from "../../../../domain/conversion/bulk.ts"
import { JobStatus, ConversionOptions } from "../../../../domain/conversion/job.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import {
  problemSchema,
  invalidRequest,
  problem,
  type Problem,
  problemResponse
} from "../../server/problem.ts"
import { OwnerAccess, CurrentOwner } from "../../server/session.ts"
import { InvalidRequest } from "../mail/relay.ts"
import { refuseInternalOptions, filesUnavailable, UUID } from "./own-file.ts"

/** The body of a bulk order. */
const BulkRequest = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      fileId: Schema.String,
      urgent: Schema.optionalKey(
        Schema.Boolean.annotate({ description: "Converted on demand; never goes through the batch lane." })
      )
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_BULK_ITEMS)),
  options: Schema.optionalKey(ConversionOptions)
}).annotate({ identifier: "BulkRequest" })

/** Many conversions at once. */
export class BulkGroup extends HttpApiGroup.make("bulk")
  .add(
    HttpApiEndpoint.post("startBulk", "/api/v1/bulk", {
      payload: BulkRequest,
      success: Schema.Struct({
        bulkId: Schema.String,
        jobs: Schema.Array(Schema.Struct({ id: Schema.String, fileId: Schema.String, status: JobStatus }))
      })
        .annotate({ identifier: "BulkOrder" })
        .pipe(HttpApiSchema.status(202)),
      error: [
        InvalidRequest,
        problemSchema("FILE_NOT_FOUND", {}),
        problemSchema("INSUFFICIENT_CREDITS", {}),
        problemSchema("CONVERSION_ACTIVE", {}),
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        problemSchema("UNAVAILABLE", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Converts many files, all or none",
        description:
          "Items that are not `urgent` may wait for the batch lane, which costs less. When the last job has ended, one " +
          "message goes to the owner."
      })
    )
  )
  .middleware(OwnerAccess) {}

/** Largest body of an order, bytes. */
const MAX_BODY = 256 * 1024

const decodeBulk = bodyDecoder(BulkRequest)

/** The items' files. A duplicate is an error: its second conversion would find the file already converting. */
const itemsOf = (items: (typeof BulkRequest.Type)["items"]) => {
  const ids = items.map(({ fileId }) => fileId.toLowerCase())
  const issues = ids.flatMap((id, at) =>
    ids.indexOf(id) < at ? [{ path: `items.${at}.fileId`, message: "is there twice" }] : []
  )
  return issues.length > 0
    ? Effect.fail(invalidRequest(issues))
    : Effect.succeed(items.map(({ urgent }, at) => ({ fileId: ids[at]!, urgent: urgent === true })))
}

/** Why nothing was started. */
const refusals = {
  not_found: (fileId) => problem("FILE_NOT_FOUND", `There is no file ${fileId}; nothing was started`),
  active: (fileId) =>
    problem("CONVERSION_ACTIVE", `A conversion of file ${fileId} is under way; nothing was started`),
  insufficient: () =>
    problem("INSUFFICIENT_CREDITS", "There are not enough credits for all pages; nothing was started")
} satisfies Readonly<Record<string, (fileId: string) => Problem>>

/** `POST /api/v1/bulk`. */
export const bulkHandlers = HttpApiBuilder.group(
  apiOf(BulkGroup),
  "bulk",
  Effect.fnUntraced(function* (handlers) {
    const bulk = yield* BulkConversions
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("startBulk", ({ request }) =>
      Effect.gen(function* () {
        const { customerId } = yield* CurrentOwner
        const body = yield* bodies
          .read(request, MAX_BODY)
          .pipe(Effect.flatMap(refuseInternalOptions), Effect.flatMap(decodeBulk))
        const items = yield* itemsOf(body.items)
        const unknown = items.find(({ fileId }) => !UUID.test(fileId))
        // The id is not echoed: it may be any text.
        if (unknown !== undefined) return problemResponse(refusals.not_found("of that id"))
        const started = yield* bulk
          .start({ customerId, items, options: body.options ?? {} })
          .pipe(Effect.catch(filesUnavailable))
        if (started.answer !== "queued") return problemResponse(refusals[started.answer](started.fileId))
        const { bulkId, jobs } = started
        return HttpServerResponse.text(JSON.stringify({ bulkId, jobs }), {
          status: 202,
          contentType: "application/json"
        })
      }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
    )
  })
)
