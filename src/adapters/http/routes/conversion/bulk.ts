import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { MAX_BULK_ITEMS, BulkConversions } from "../../../../application/conversion/bulk.ts"
import { JobStatus, ConversionOptions } from "../../../../domain/conversion/job.ts"
import { hasEnded } from "../../../../domain/conversion/lookup.ts"
import { FileId } from "../../../../domain/ids.ts"
import { creditsFor } from "../../../../domain/inbound/page-class.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf, cursor, isUuid, page } from "../../server/endpoint.ts"
import { readJson } from "../../server/json-body.ts"
import { makeOnce, onceHeaders, onceRefusals } from "../../server/once.ts"
import { bodyDecoder, InvalidRequest, invalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { FileView } from "./file-view.ts"
import { listFrom, makeWaiting, wait, waitRefusals } from "./lookups.ts"
import { filesAway, FilesUnavailable, Price, Reference, refuseInternalOptions } from "./own-file.ts"

/** The body of a bulk order. */
const BulkRequest = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      fileId: Schema.String,
      urgent: Schema.optionalKey(
        Schema.Boolean.annotate({ description: "Converted on demand; never goes through the batch lane." })
      ),
      options: Schema.optionalKey(
        ConversionOptions.annotate({
          identifier: "BulkItemOptions",
          description: "Of this file, in place of those of the order."
        })
      )
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_BULK_ITEMS)),
  options: Schema.optionalKey(ConversionOptions),
  reference: Schema.optionalKey(Reference)
}).annotate({ identifier: "BulkRequest" })

/** Many conversions at once. */
export class BulkGroup extends HttpApiGroup.make("bulk")
  .add(
    HttpApiEndpoint.post("startBulk", "/api/v1/bulk", {
      headers: onceHeaders,
      payload: BulkRequest,
      success: Schema.Struct({
        bulkId: Schema.String,
        reference: Schema.NullOr(Schema.String),
        price: Price,
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
        problemSchema("UNAVAILABLE", {}),
        ...onceRefusals
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
  .add(
    HttpApiEndpoint.get("getBulk", "/api/v1/bulk/:bulkId", {
      params: { bulkId: Schema.String },
      query: { ...wait, limit: page(MAX_BULK_ITEMS, MAX_BULK_ITEMS), cursor },
      success: Schema.Struct({
        bulk: Schema.Struct({
          id: Schema.String,
          reference: Schema.NullOr(Schema.String),
          createdAt: Schema.String,
          ended: Schema.Boolean,
          counts: Schema.Struct({
            waiting: Schema.Int,
            processing: Schema.Int,
            completed: Schema.Int,
            failed: Schema.Int,
            cancelled: Schema.Int
          }).annotate({ identifier: "BulkCounts" })
        }).annotate({ identifier: "BulkState" }),
        files: Schema.Array(FileView),
        nextCursor: Schema.NullOr(Schema.String)
      }),
      error: [...waitRefusals, problemSchema("NOT_FOUND", {}), FilesUnavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A bulk order: how many of its conversions are in which state, and its files",
        description:
          "Files are listed newest first, deleted ones left out. `wait`: until the last conversion has ended."
      })
    )
  )
  .middleware(OwnerAccess) {}

/** Largest body of an order, bytes. */
const MAX_BODY = 256 * 1024

const decodeBulk = bodyDecoder(BulkRequest)

/** The items' files. A duplicate is an error: its second conversion would find the file already converting. */
const itemsOf = ({ items, options = {} }: typeof BulkRequest.Type) => {
  const ids = items.map(({ fileId }) => FileId.make(fileId.toLowerCase()))
  const issues = ids.flatMap((id, at) =>
    ids.indexOf(id) < at ? [{ path: `items.${at}.fileId`, message: "is there twice" }] : []
  )
  return issues.length > 0
    ? Effect.fail(invalidRequest(issues))
    : Effect.succeed(
        items.map((item, at) => ({
          fileId: ids[at]!,
          urgent: item.urgent === true,
          options: item.options ?? options
        }))
      )
}

const noOrder = problem("NOT_FOUND", "There is no such order")

/** Why nothing was started. */
const refusals = {
  not_found: (file: string) =>
    Effect.fail(problem("FILE_NOT_FOUND", `There is no file ${file}; nothing was started`)),
  active: (file: string) =>
    Effect.fail(
      problem("CONVERSION_ACTIVE", `A conversion of file ${file} is under way; nothing was started`)
    ),
  insufficient: () =>
    Effect.fail(
      problem("INSUFFICIENT_CREDITS", "There are not enough credits for all pages; nothing was started")
    )
} as const

/** `POST /api/v1/bulk`. Raw: an internal option is refused before anything else in the body is looked at. */
export const bulkHandlers = HttpApiBuilder.group(
  apiOf(BulkGroup),
  "bulk",
  Effect.fnUntraced(function* (handlers) {
    const bulk = yield* BulkConversions
    const once = yield* makeOnce
    const store = yield* ConversionStore
    const list = listFrom(store)
    const waitFor = yield* makeWaiting
    const orderOf = Effect.fnUntraced(function* (bulkId: string) {
      const { customerId } = yield* CurrentOwner
      const found = isUuid(bulkId)
        ? yield* store.bulk(bulkId, customerId).pipe(Effect.catch(filesAway))
        : undefined
      return found ?? (yield* Effect.fail(noOrder))
    })
    /** Files of the order with a conversion that may be one of it. */
    const filesOf = Effect.fnUntraced(function* (bulkId: string) {
      const { customerId } = yield* CurrentOwner
      const all = { limit: MAX_BULK_ITEMS, cursor: undefined, bulkId }
      const { files } = yield* store
        .files(customerId, all)
        .pipe(Effect.catchTags({ StoreUnavailable: filesAway, InvalidCursor: Effect.die }))
      return files
    })
    const show = Effect.fnUntraced(function* (
      bulkId: string,
      query: { readonly wait?: number; readonly limit?: number; readonly cursor?: string }
    ) {
      const { customerId } = yield* CurrentOwner
      const known = yield* orderOf(bulkId)
      const waits = query.wait !== undefined && query.wait > 0 && !hasEnded(known)
      if (waits) yield* waitFor(customerId, yield* filesOf(bulkId), query.wait)
      const { counts, createdAt, id, reference } = waits ? yield* orderOf(bulkId) : known
      const { files, nextCursor = null } = yield* list(query, bulkId)
      const ended = hasEnded({ counts })
      return { bulk: { id, reference, createdAt, ended, counts }, files, nextCursor }
    })
    const start = Effect.fnUntraced(function* (given: unknown, callId: string) {
      const { customerId } = yield* CurrentOwner
      const body = yield* Effect.flatMap(refuseInternalOptions(given), decodeBulk)
      const items = yield* itemsOf(body)
      // The id is not echoed: it may be any text.
      if (items.some(({ fileId }) => !isUuid(fileId))) return yield* refusals.not_found("of that id")
      const { reference } = body
      const started = yield* bulk
        .start({ callId, customerId, reference, items })
        .pipe(Effect.catch(filesAway))
      if (started.answer !== "queued") return yield* refusals[started.answer](started.fileId)
      const price = creditsFor({ standard: started.pages, complex: 0 })
      return { bulkId: started.bulkId, reference: reference ?? null, price, jobs: started.jobs }
    })
    return handlers
      .handle("getBulk", ({ params, query }) => show(params.bulkId, query))
      .handleRaw("startBulk", ({ headers, request }) =>
        once({ headers, route: ["startBulk"], body: readJson(request, MAX_BODY) }, ({ id }, body) =>
          Effect.flatMap(body, (given) => start(given, id))
        )
      )
  })
)
