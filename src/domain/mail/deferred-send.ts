import { Schema, Option } from "effect"

import { IdempotencyKey, KeyHash, KeyTag, LogRowId } from "../ids.ts"
import { addressKey, addressOf } from "./address.ts"
import { withinWindow } from "./failover.ts"
import { type Message, recipientKeys } from "./message.ts"
import { Provider } from "./provider.ts"
import { type BlockReason, Category } from "./suppression/policy.ts"

/**
 * The vendor's request as it goes over the wire, as JSON. Only the adapter that made it reads it; it is queued unchanged,
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
  /** The mailing list that the mail belongs to; absent where to none. */
  list: Schema.optionalKey(Schema.String),
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
  idempotencyKey: IdempotencyKey,
  keyHash: KeyHash,
  /**
   * The tag in the request: null where it has none. Absent in messages of an earlier version, which used the hash of the key as the tag.
   */
  keyTag: Schema.optionalKey(Schema.NullOr(KeyTag)),
  /** Tags of the caller, for event hooks. */
  tags: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** The span of the send, where it was traced. */
  traceparent: Schema.optionalKey(Schema.String)
})
export type SendDetails = typeof SendDetails.Type

/** What the rows of a send have in common; `mailed` is the message without the suppressed recipients. */
export const detailsOf = (
  message: Message,
  mailed: Message,
  blocked: ReadonlyMap<string, BlockReason>,
  key: Pick<SendDetails, "idempotencyKey" | "keyHash" | "keyTag" | "traceparent">
): SendDetails => ({
  category: message.category,
  ...(message.list === undefined ? {} : { list: message.list }),
  source: message.source,
  from: addressOf(message.from),
  to: mailed.to.map(addressKey),
  others: [...mailed.cc, ...mailed.bcc].map(addressKey),
  dropped: recipientKeys(message).filter((address) => blocked.has(address)),
  subject: message.subject,
  ...(Object.keys(message.tags).length === 0 ? {} : { tags: message.tags }),
  ...key
})

/** The tag that the requests of a send carry. */
export const tagOf = ({ keyHash, keyTag }: SendDetails): KeyTag | undefined =>
  keyTag === undefined ? KeyTag.make(keyHash) : (keyTag ?? undefined)

/** The row of a retry without the recipients blocked since the first attempt; if no To recipient is left, no mail goes out. */
export const withoutDropped = (details: SendDetails, blocked: ReadonlyMap<string, unknown>): SendDetails => {
  if (blocked.size === 0) return details
  const now = [...new Set([...details.to, ...details.others])].filter((address) => blocked.has(address))
  if (now.length === 0) return details
  const dropped = [...(details.dropped ?? []), ...now]
  const to = details.to.filter((address) => !blocked.has(address))
  return to.length === 0
    ? { ...details, dropped }
    : { ...details, to, others: details.others.filter((address) => !blocked.has(address)), dropped }
}

/** A message of the delayed retry queue (MAIL-50 to MAIL-56). */
export const DeferredSend = Schema.Struct({
  version: Schema.Literal(1),
  /** Id of the row that this retry will write: a message that is delivered twice writes one row. */
  rowId: LogRowId,
  /** 1, 2 or 3. */
  attempt: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
  request: ProviderRequest,
  details: SendDetails,
  /** Milliseconds since the epoch of the key's first attempt, by the store's clock. */
  firstAttemptAt: Schema.Number,
  /** Present where the store had said nothing yet, so that the process's own clock gave `firstAttemptAt`. */
  timedBy: Schema.optionalKey(Schema.Literal("process")),
  /** Milliseconds since the epoch from which on no retry goes out; absent where the mail does not expire. */
  expiresAt: Schema.optionalKey(Schema.Number),
  failedOver: Schema.Boolean
})
export type DeferredSend = typeof DeferredSend.Type

/** The waits before the first, second and third retry of an ambiguous send, in seconds (MAIL-51). */
export const DEFAULT_DEFER_DELAYS_SECONDS: readonly [number, number, number] = [120, 600, 900]

/** Largest message that the queue takes, in bytes of UTF-8 JSON (MAIL-55). */
export const MAX_DEFERRED_BYTES = 250_000

/** How often a message is received before it is a dead letter (MAIL-54). */
export const MAX_RECEIVES = 3

/**
 * The wait before retry number `attempt` (1, 2, 3), or `undefined` when the schedule is over and the send ends `failed`.
 * `sinceFirstMs` is the age of the key's first attempt: a retry that would come due after the idempotency window is not
 * scheduled, since the provider would take it for a new mail (S1).
 */
export const delayBefore = (
  attempt: number,
  delaysSeconds: readonly [number, number, number],
  sinceFirstMs: number
): number | undefined => {
  const delay = delaysSeconds[attempt - 1]
  if (delay === undefined) return undefined
  return withinWindow(sinceFirstMs + delay * 1000) ? delay : undefined
}

/** How old the first attempt is at least when a retry is due, milliseconds. */
export const ageBySchedule = (
  { attempt }: Pick<DeferredSend, "attempt">,
  delaysSeconds: readonly [number, number, number]
): number => delaysSeconds.slice(0, attempt).reduce((sum, seconds) => sum + seconds * 1000, 0)

/** Whether a mail that expires (a sign-in link) has done so at `at`; both in milliseconds since the epoch. */
export const hasExpired = (expiresAt: number | undefined, at: number): boolean =>
  expiresAt !== undefined && at >= expiresAt

const encode = Schema.encodeSync(Schema.toCodecJson(DeferredSend))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.toCodecJson(DeferredSend)))

/** The JSON text of a message, of any size. */
export const deferredJson = (message: DeferredSend): string => JSON.stringify(encode(message))

/** The JSON text of a message for the queue, or none where it is over {@link MAX_DEFERRED_BYTES} of UTF-8. */
export const encodeDeferredSend = (message: DeferredSend): Option.Option<string> => {
  const body = deferredJson(message)
  // A UTF-16 unit is at least one byte of UTF-8: 25 MB of attachments need no second copy to be refused.
  if (body.length > MAX_DEFERRED_BYTES) return Option.none()
  return new TextEncoder().encode(body).length > MAX_DEFERRED_BYTES ? Option.none() : Option.some(body)
}

/** The message that a queue returned, or none where it cannot be read. */
export const decodeDeferredSend = (body: string): Option.Option<DeferredSend> => decode(body)

/** The first attempt as the store and the message know it; what a process's own clock said counts only where nothing else does. */
export const firstOf = ({ firstAttemptAt, timedBy }: DeferredSend, known: number): number =>
  timedBy === "process" ? known : Math.min(firstAttemptAt, known)

/** Why no attempt may go out any more, if none may. */
export const tooLate = (
  { expiresAt }: DeferredSend,
  firstAttemptAt: number,
  now: number
): string | undefined => {
  if (!withinWindow(now - firstAttemptAt)) return "its retry came due 24 hours after the first attempt"
  return hasExpired(expiresAt, now) ? "the mail expired before its retry" : undefined
}

export const triedBy = ({ failedOver, request: { provider } }: DeferredSend) => ({ provider, failedOver })

/** Why nobody may be asked on a key that is in doubt at both providers (S2). */
export const tornBy = (isTorn: boolean): string | undefined =>
  isTorn ? "another attempt on its key, at the other provider, ended without an answer, too" : undefined
