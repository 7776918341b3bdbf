import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { MAX_BULK_ITEMS } from "../../../domain/conversion/bulk.ts"
import { JobStatus } from "../../../domain/conversion/job.ts"
import { ConversionOptions } from "../../../domain/conversion/options.ts"
import { problemSchema } from "../problem.ts"
import { OwnerAccess } from "./access.ts"
import { InvalidRequest } from "./relay.ts"

/** The body of a bulk order. */
export const BulkRequest = Schema.Struct({
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
