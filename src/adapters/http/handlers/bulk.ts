import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { BulkConversions } from "../../../domain/conversion/bulk.ts"
import { CurrentOwner } from "../api/access.ts"
import { Api } from "../api/api.ts"
import { BulkRequest } from "../api/bulk.ts"
import { refuseInternalOptions } from "../conversion-options.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { filesUnavailable, UUID } from "../own-file.ts"
import { invalidRequest, problem, type Problem, problemResponse } from "../problem.ts"

/** Largest body of an order, bytes. */
const MAX_BODY = 256 * 1024

const decodeBulk = bodyDecoder(BulkRequest)

/** The items' files, each once; one that is named again would find itself converting. */
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
  Api,
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
        // What it holds is not shown again: it may be anything.
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
