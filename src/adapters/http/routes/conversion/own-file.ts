import { Schema, Effect } from "effect"

import type { StoredFile } from "../../../../domain/conversion/file.ts"
import { JobStatus } from "../../../../domain/conversion/job.ts"
import { FileId } from "../../../../domain/ids.ts"
import { creditsFor } from "../../../../domain/inbound/page-class.ts"
import type { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import type { ObjectStoreError } from "../../../../ports/object-store.ts"
import { CurrentOwner } from "../../server/access.ts"
import { isUuid, Text } from "../../server/endpoint.ts"
import { invalidRequest, problem, problemSchema, unavailable } from "../../server/problem.ts"

/** The price of a conversion, as held. */
export const Price = Schema.Int.annotate({
  description:
    "What a conversion sets aside: so many credits, or pages of the free plan. Pages that cannot be read are not charged, those of a Word document are counted from its result, and an earlier conversion is not refunded."
})

/** The price of a file's pages, the same for every way of converting. */
export const priceOf = ({ pages }: StoredFile): number => creditsFor({ standard: pages, complex: 0 })

/** The current state of a conversion. */
export const JobView = Schema.Struct({
  job: Schema.Struct({ id: Schema.String, status: JobStatus, price: Price }).annotate({ identifier: "Job" })
})

export const fileParams = { fileId: FileId }
export const FilesUnavailable = problemSchema("UNAVAILABLE", {})
export const FileNotFound = problemSchema("FILE_NOT_FOUND", {})

/** The longest reference, characters. */
const MAX_REFERENCE = 200

/** The caller's own name for a file or an order. */
export const Reference = Text.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_REFERENCE)).annotate({
  description: "Your own name for it, to list by: an order, a case. Several may have the same."
})

/** Why a conversion is not started. */
export const startRefusals = [
  FileNotFound,
  problemSchema("INSUFFICIENT_CREDITS", {}),
  problemSchema("CONVERSION_ACTIVE", {}),
  FilesUnavailable
] as const

export const noFile = problem("FILE_NOT_FOUND", "There is no such file")
export const insufficient = problem(
  "INSUFFICIENT_CREDITS",
  "There are not enough credits for its pages; buy more, or convert less"
)
export const active = problem(
  "CONVERSION_ACTIVE",
  "A conversion of this file is under way: wait for it, or cancel it"
)
export const resolved = problem("ALREADY_RESOLVED", "The free reflow was chosen already, or is not offered")
export const finishing = problem(
  "CONVERSION_FINISHING",
  "The result is being put together; it is there in a moment"
)

/** The answer where the store, or another part that files need, does not answer. */
export const filesAway = unavailable(
  "files and conversions cannot be reached",
  "Files and conversions cannot be reached now"
)

const resultGone = problem("FILE_NOT_FOUND", "Its stored result is gone: convert the file again")

/** The answer where a stored result cannot be read: it was deleted meanwhile, or after the backup that was restored, or its store is away. */
export const resultAway = (
  error: ObjectStoreError
): Effect.Effect<never, typeof resultGone | Effect.Error<ReturnType<typeof filesAway>>> =>
  error.reason === "missing" ? Effect.fail(resultGone) : filesAway(error)

/** A file of the caller's; anything else, somebody else's included, is 404 (DOC-3). */
export const ownFile = (store: Pick<ConversionStore["Service"], "file">) =>
  Effect.fnUntraced(function* (fileId: FileId) {
    const { customerId } = yield* CurrentOwner
    if (!isUuid(fileId)) return yield* Effect.fail(noFile)
    const file = yield* store.file(fileId, customerId).pipe(Effect.catch(filesAway))
    return file ?? (yield* Effect.fail(noFile))
  })

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Where the options in a body are internal ones. */
const internalIn = (body: unknown, place: string): ReadonlyArray<string> => {
  const options = isObject(body) && "options" in body ? body.options : undefined
  const names = isObject(options) ? Object.keys(options) : []
  return names.filter((name) => name.startsWith("_")).map((name) => `${place}options.${name}`)
}

/**
 * Refuses a body with an internal option (with an underscore) in its `options` or an item's: those hold the service's notes about money and
 * the batch lane, and dropping one silently would let the caller believe that it counts.
 */
export const refuseInternalOptions = (body: unknown) => {
  const items = isObject(body) && "items" in body && Array.isArray(body.items) ? body.items : []
  const wrong = [...internalIn(body, ""), ...items.flatMap((item, at) => internalIn(item, `items.${at}.`))]
  return wrong.length === 0
    ? Effect.succeed(body)
    : Effect.fail(invalidRequest(wrong.map((path) => ({ path, message: "cannot be set from outside" }))))
}
