import { Effect } from "effect"

import type { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import type { ObjectStoreError } from "../../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { problem, invalidRequest, type Problem } from "../../server/problem.ts"
import { CurrentOwner } from "../../server/session.ts"

/** The form of ids. */
export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

export const noFile = problem("FILE_NOT_FOUND", "There is no such file")
export const noFlyer = problem("NOT_FOUND", "There is no such job")

/** The answer where the store, or another part that files need, is unavailable. */
export const filesUnavailable = (error: StoreUnavailable | ObjectStoreError) =>
  Effect.logWarning("files and conversions cannot be reached", error).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "Files and conversions cannot be reached now")))
  )

/** A file of the caller's; anything else, somebody else's included, is 404 (DOC-3). */
export const ownFile = (store: Pick<ConversionStore["Service"], "file">) =>
  Effect.fnUntraced(function* (fileId: string) {
    const { customerId } = yield* CurrentOwner
    if (!UUID.test(fileId)) return yield* Effect.fail(noFile)
    const file = yield* store.file(fileId, customerId).pipe(Effect.catch(filesUnavailable))
    return file ?? (yield* Effect.fail(noFile))
  })

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/**
 * Refuses a body whose `options` name an internal one (with an underscore): those hold the service's notes about money and
 * the batch lane, and dropping one silently would let the caller believe that it counts.
 */
export const refuseInternalOptions = (body: unknown): Effect.Effect<unknown, Problem> => {
  const options = isObject(body) && "options" in body ? body.options : undefined
  const wrong = isObject(options) ? Object.keys(options).filter((name) => name.startsWith("_")) : []
  return wrong.length === 0
    ? Effect.succeed(body)
    : Effect.fail(
        invalidRequest(
          wrong.map((name) => ({ path: `options.${name}`, message: "cannot be set from outside" }))
        )
      )
}
