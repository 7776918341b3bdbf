import { Effect } from "effect"

import type { ConversionStore } from "../../ports/conversion-store.ts"
import { CurrentOwner } from "./api/access.ts"
import { problem } from "./problem.ts"

/** The form of ids. */
export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

export const noFile = problem("FILE_NOT_FOUND", "There is no such file")
export const noFlyer = problem("NOT_FOUND", "There is no such job")

/** The answer where the store, or what else stands behind files, does not. */
export const filesUnavailable = (error: { readonly cause?: unknown }) =>
  Effect.logWarning("files and conversions cannot be reached", error.cause).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "Files and conversions cannot be reached now")))
  )

/** A file of the caller's; whatever is none is not found, and neither is somebody else's. */
export const ownFile = (store: Pick<ConversionStore["Service"], "file">) =>
  Effect.fnUntraced(function* (fileId: string) {
    const { customerId } = yield* CurrentOwner
    if (!UUID.test(fileId)) return yield* Effect.fail(noFile)
    const file = yield* store.file(fileId, customerId).pipe(Effect.catch(filesUnavailable))
    return file ?? (yield* Effect.fail(noFile))
  })
