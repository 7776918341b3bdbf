import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { addressKey, parseMailbox, parsePublicMailbox } from "../../../domain/mail/address.ts"
import { SuppressionList } from "../../../ports/suppression-list.ts"
import { CurrentPrincipal } from "../api/access.ts"
import { Api } from "../api/api.ts"
import { DEFAULT_PAGE } from "../api/query.ts"
import { SuppressionRequest } from "../api/suppressions.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidCursor, invalidRequest, problem, problemResponse } from "../problem.ts"

/** Largest body of these routes, bytes. */
const MAX_BODY = 64 * 1024

/** The stored form of an address; what is none is compared as it is, so that a row of it can be removed. */
const keyOf = (email: string): string => {
  const parsed = parseMailbox(email.trim())
  return Result.isSuccess(parsed) ? addressKey(parsed.success) : email.trim().toLowerCase()
}

const unavailable = ({ cause }: { readonly cause: unknown }) =>
  Effect.logWarning("The suppression list does not answer", cause).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The suppression list does not answer now")))
  )

const decodeSuppression = bodyDecoder(SuppressionRequest)

/** `/api/admin/email-suppressions`. */
export const suppressionHandlers = HttpApiBuilder.group(
  Api,
  "suppressions",
  Effect.fnUntraced(function* (handlers) {
    const list = yield* SuppressionList
    const bodies = yield* makeJsonBodies

    const add = Effect.fnUntraced(function* (body: typeof SuppressionRequest.Type) {
      const parsed = parsePublicMailbox(body.email.trim())
      if (Result.isFailure(parsed)) {
        return yield* Effect.fail(invalidRequest([{ path: "email", message: parsed.failure }]))
      }
      const { actor } = yield* CurrentPrincipal
      return yield* list
        .add({ email: addressKey(parsed.success), actor, note: body.note || undefined })
        .pipe(Effect.catch(unavailable))
    })

    return handlers
      .handle("listSuppressions", ({ query }) =>
        list
          .page({
            email: query.email ? keyOf(query.email) : undefined,
            reason: query.reason || undefined,
            cursor: query.cursor || undefined,
            limit: query.limit || DEFAULT_PAGE
          })
          .pipe(
            Effect.catchTags({
              SuppressionListUnavailable: unavailable,
              InvalidSuppressionCursor: () => invalidCursor("list")
            })
          )
      )
      .handleRaw("addSuppression", ({ request }) =>
        bodies.read(request, MAX_BODY).pipe(
          Effect.flatMap(decodeSuppression),
          Effect.flatMap(add),
          Effect.map((row) =>
            HttpServerResponse.text(JSON.stringify(row), { contentType: "application/json" })
          ),
          Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
        )
      )
      .handle(
        "removeSuppressions",
        Effect.fnUntraced(function* ({ params, query }) {
          const email = keyOf(params.email)
          const { actor } = yield* CurrentPrincipal
          const removed = email.includes("\0")
            ? 0
            : yield* list
                .remove({ email, actor, note: query.note || undefined })
                .pipe(Effect.catch(unavailable))
          if (removed === 0) {
            return yield* Effect.fail(problem("NOT_FOUND", "The address is not suppressed"))
          }
          return { removed }
        })
      )
  })
)
