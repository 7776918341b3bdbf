import { Schema } from "effect"

import { Category } from "./category.ts"
import { Provider } from "./provider.ts"

/**
 * The vendor's request as it goes over the wire, as JSON. Only the adapter that made it reads it; it is queued as it is,
 * so that a retry is byte-identical and the provider sees the same payload under the same key.
 */
export const ProviderRequest = Schema.Struct({
  provider: Provider,
  /** Idempotency key as the provider gets it (an HTTP header value). */
  key: Schema.String,
  body: Schema.Json
})
export type ProviderRequest = typeof ProviderRequest.Type

/** What every row of one send has in common. */
export const SendDetails = Schema.Struct({
  category: Category,
  source: Schema.String,
  /** Bare address. */
  from: Schema.String,
  /** Bare lower-case addresses; `to` alone is what a row shows as recipients. */
  to: Schema.Array(Schema.String),
  /** Cc and Bcc. */
  others: Schema.Array(Schema.String),
  /** Recipients that were left out since they are suppressed; absent in messages that an earlier version queued. */
  dropped: Schema.optionalKey(Schema.Array(Schema.String)),
  subject: Schema.String,
  idempotencyKey: Schema.String,
  /** SHA-256 hex of the key: the value of the tag that delivery events bring back. */
  keyHash: Schema.String
})
export type SendDetails = typeof SendDetails.Type

/** What the row of a retry says that leaves out who was blocked since; without any To recipient left nobody is mailed. */
export const withoutDropped = (details: SendDetails, blocked: ReadonlyMap<string, unknown>): SendDetails => {
  const now = [...new Set([...details.to, ...details.others])].filter((address) => blocked.has(address))
  if (now.length === 0) return details
  const dropped = [...(details.dropped ?? []), ...now]
  const to = details.to.filter((address) => !blocked.has(address))
  return to.length === 0
    ? { ...details, dropped }
    : { ...details, to, others: details.others.filter((address) => !blocked.has(address)), dropped }
}

/** A message of the delayed retry queue (document 1, "Delayed retry queue"). */
export const DeferredSend = Schema.Struct({
  version: Schema.Literal(1),
  /** Id of the row that this retry will write: a message that is delivered twice writes one row. */
  rowId: Schema.String,
  /** 1, 2 or 3. */
  attempt: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
  request: ProviderRequest,
  details: SendDetails,
  /** Milliseconds since the epoch of the key's first attempt. */
  firstAttemptAt: Schema.Number,
  /** Milliseconds since the epoch from which on no retry goes out; absent where the mail does not expire. */
  expiresAt: Schema.optionalKey(Schema.Number),
  failedOver: Schema.Boolean
})
export type DeferredSend = typeof DeferredSend.Type
