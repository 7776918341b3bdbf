import { Clock, Data, Effect, Result } from "effect"

import { ageBySchedule, type DeferredSend, firstOf, tagOf, tooLate } from "../../domain/mail/deferred-send.ts"
import { withinWindow } from "../../domain/mail/failover.ts"
import { dedupes } from "../../domain/mail/provider.ts"
import type { Block } from "../../domain/mail/suppression/policy.ts"
import type { BeganRetry } from "../../ports/mail/mail-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { bounded } from "./retry-store.ts"
import type { SendParts } from "./sending.ts"
import { heard, type StoreTime } from "./store-time.ts"

/** Nothing was asked of a provider: the store does not answer, or another process works on the key. */
export class NotBegun extends Data.TaggedError("NotBegun")<{ readonly reason: string }> {}

/** What an attempt goes by. */
export interface Go {
  readonly _tag: "Go"
  readonly torn: boolean
  readonly suppressions: ReadonlyArray<Block>
  /** When the key's first attempt began. */
  readonly firstAttemptAt: number
  /** Absent where the store did not answer. */
  readonly time: StoreTime | undefined
}

type Began = Exclude<BeganRetry, { readonly _tag: "Busy" | "Go" }> | Go

/**
 * Evidence and suppressions before an attempt, and the lease on the key. A provider that dedupes is tried even if the database
 * does not answer. Another one is not: a mail could go out twice after an event has proven its acceptance. Its message waits
 * instead. So does one that is too old only by this process's clock or memory, since neither is enough to end a mail; and one of a key
 * that this process has left in doubt at two providers, which the database has to know before the other one's retry.
 */
export const beginRetry = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  { ageMs, owner, torn }: { readonly ageMs: number; readonly owner: string; readonly torn: boolean }
): Effect.fn.Return<Began, NotBegun | StoreUnavailable> {
  const { details, firstAttemptAt, rowId } = message
  const { provider } = message.request
  const unknown: Go = { _tag: "Go", torn: false, suppressions: [], firstAttemptAt, time: undefined }
  if (!parts.store.configured) return unknown
  const entry = {
    keyHash: details.keyHash,
    tag: tagOf(details),
    // A process's clock may be a day off.
    firstAttemptAt: message.timedBy === "process" ? undefined : firstAttemptAt,
    ageMs: ageBySchedule(message, parts.config.deferDelaysSeconds),
    provider,
    rowId,
    addresses: [...details.to, ...details.others],
    owner,
    leaseMs: parts.terms.leaseMs
  }
  const asked = yield* Effect.result(bounded(parts, "beginRetry", parts.store.beginRetry(entry)))
  if (Result.isFailure(asked)) {
    const error = asked.failure
    const isYoung =
      withinWindow(ageMs) && tooLate(message, firstAttemptAt, yield* Clock.currentTimeMillis) === undefined
    if (dedupes(provider) && isYoung && !torn)
      return yield* Effect.logWarning(
        "mail store: beginRetry failed, the provider dedupes, the retry goes on",
        error
      ).pipe(Effect.as(unknown))
    return yield* error.isRetryable ? new NotBegun({ reason: error.message }) : error
  }
  const began = asked.success
  if (began._tag === "Busy") return yield* new NotBegun({ reason: "another process works on its key" })
  if (began._tag !== "Go") return began
  return {
    ...began,
    firstAttemptAt: firstOf(message, began.firstAttemptAt),
    time: yield* heard(began.at)
  }
})
