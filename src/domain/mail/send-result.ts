import { Schema } from "effect"

import { LogRowId } from "../ids.ts"
import type { SendDetails } from "./deferred-send.ts"
import { FailureKind } from "./failover.ts"
import { Provider } from "./provider.ts"

/** The status of a finished send (MAIL-2). */
export const SendStatus = Schema.Literals(["sent", "deferred", "suppressed", "failed"])
export type SendStatus = typeof SendStatus.Type

const common = {
  /** Id of the `email_log` row; where no row could be written, the id that it would have had. */
  sendId: LogRowId,
  /** The provider that accepted, may have accepted, or refused last; null where none was tried. */
  provider: Schema.NullOr(Provider),
  failedOver: Schema.Boolean,
  idempotencyKey: Schema.String,
  /** Recipients that were dropped because they are suppressed, bare and lower-case. */
  suppressedRecipients: Schema.Array(Schema.String),
  /** Of marketing and mail of a list: whether it has a link by which a mail service unsubscribes its reader (MAIL-67). */
  oneClick: Schema.optionalKey(Schema.Boolean)
}

/** A provider accepted the mail. `providerMessageId` is null where acceptance is proven by an event that carries no id. */
const Sent = Schema.Struct({
  ok: Schema.Literal(true),
  status: Schema.Literal("sent"),
  providerMessageId: Schema.NullOr(Schema.String),
  ...common
})

/** It may have been accepted; a retry on the same key is durably queued. */
const Deferred = Schema.Struct({
  ok: Schema.Literal(true),
  status: Schema.Literal("deferred"),
  providerMessageId: Schema.Null,
  ...common
})

/** Every To recipient is suppressed; nothing was sent. */
const Suppressed = Schema.Struct({
  ok: Schema.Literal(false),
  status: Schema.Literal("suppressed"),
  error: Schema.String,
  providerMessageId: Schema.Null,
  ...common
})

/** No provider is known to have accepted it; `kind` says how sure that is. */
const Failed = Schema.Struct({
  ok: Schema.Literal(false),
  status: Schema.Literal("failed"),
  error: Schema.String,
  kind: FailureKind,
  providerMessageId: Schema.Null,
  ...common
})

/** What `sendEmail` resolves to, always. `ok` only if a provider accepted it or a retry is durably queued (S5). */
export const SendResult = Schema.Union([Sent, Deferred, Suppressed, Failed])
export type SendResult = typeof SendResult.Type

/** How a deferral ended, by the newest row of its key that says so. */
export interface DeferralEnd {
  readonly sendId: LogRowId
  /** `sent`: a provider accepted it, by its answer or by an event. */
  readonly outcome: "sent" | "suppressed" | "failed"
  readonly provider: Provider | null
  readonly providerMessageId: string | null
  readonly failedOver: boolean
  readonly error: string | null
}

/** The send that a result is about. */
interface Send {
  readonly rowId: LogRowId
  readonly details: SendDetails
}

/** The provider of a result, and whether the send failed over to it. */
export type Tried = Pick<SendResult, "provider" | "failedOver">

const about = ({ details, rowId }: Send, { failedOver }: Tried) => ({
  sendId: rowId,
  failedOver,
  idempotencyKey: details.idempotencyKey,
  suppressedRecipients: details.dropped ?? []
})

/** The provider accepted the mail under this id. */
export const sent = (send: Send, tried: Tried, providerMessageId: string): SendResult => ({
  ok: true,
  status: "sent",
  provider: tried.provider,
  providerMessageId,
  ...about(send, tried)
})

/** A retry is queued. */
export const deferred = (send: Send, tried: Tried): SendResult => ({
  ok: true,
  status: "deferred",
  provider: tried.provider,
  providerMessageId: null,
  ...about(send, tried)
})

/** Every To recipient is suppressed. */
export const suppressed = (send: Send, tried: Tried, error: string): SendResult => ({
  ok: false,
  status: "suppressed",
  error,
  provider: tried.provider,
  providerMessageId: null,
  ...about(send, tried)
})

/** No provider accepted the mail, as far as `kind` says. */
export const failed = (send: Send, tried: Tried, kind: FailureKind, error: string): SendResult => ({
  ok: false,
  status: "failed",
  error,
  kind,
  provider: tried.provider,
  providerMessageId: null,
  ...about(send, tried)
})

/**
 * The answer to a repeated call after the first one was deferred: how the mail has ended since. A copy may be out
 * whatever ended it, so that an end without an acceptance is always ambiguous.
 */
export const endedSince = (first: SendResult, end: DeferralEnd): SendResult => {
  const { failedOver, sendId } = end
  const kept = {
    sendId,
    failedOver,
    provider: end.provider ?? first.provider,
    idempotencyKey: first.idempotencyKey,
    suppressedRecipients: first.suppressedRecipients
  }
  return end.outcome === "sent"
    ? { ...kept, ok: true, status: "sent", providerMessageId: end.providerMessageId }
    : {
        ...kept,
        ok: false,
        status: "failed",
        kind: "ambiguous",
        error: end.error ?? "its retries ended without an acceptance",
        providerMessageId: null
      }
}

/**
 * The request is not valid: nothing was looked up, claimed, sent or written.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {
  override get message() {
    return this.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ")
  }
}

/**
 * The idempotency key was used with another payload (MAIL-42).
 *
 * @since 0.1.0
 * @category errors
 */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {
  idempotencyKey: Schema.String
}) {
  override get message() {
    return "This idempotency key was used with another payload in the last 24 hours"
  }
}

/**
 * Another call with this key is under way: retry later (MAIL-42).
 *
 * @since 0.1.0
 * @category errors
 */
export class IdempotencyInProgress extends Schema.TaggedError<IdempotencyInProgress>()(
  "IdempotencyInProgress",
  {
    idempotencyKey: Schema.String
  }
) {
  override get message() {
    return "A call with this idempotency key is under way"
  }
}

/**
 * The caller asked for a claim (`requireClaim`), and the database did not answer: nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class ClaimUnavailable extends Schema.TaggedError<ClaimUnavailable>()("ClaimUnavailable", {
  idempotencyKey: Schema.String
}) {
  override get message() {
    return "The key could not be claimed, since the database did not answer; nothing was sent"
  }
}

/** Why a send was not begun. */
export type NotBegun = InvalidRequest | IdempotencyConflict | IdempotencyInProgress | ClaimUnavailable
