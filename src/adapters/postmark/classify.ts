import { fieldsOf, textOf } from "../../domain/delivery/untrusted.ts"
import { type FailureKind, failureCode } from "../../domain/mail/failover.ts"
import { kindOfStatus } from "../../domain/mail/http-answer.ts"
import type { ProviderPace } from "../../ports/mail/mail-provider.ts"
import type { Answer } from "./api.ts"

/** The class of an answer without a message id. `message` is the vendor's, not yet sanitised for a log. */
interface Classified {
  readonly kind: FailureKind
  readonly code: string | undefined
  readonly message: string
  /** Its hold is of a refusal of the rate alone. */
  readonly pace?: ProviderPace
}

/** How long Postmark is left alone after a refusal of the rate that names no time, milliseconds. */
const HOLD_MS = 1_000

/** The API is offline for maintenance. */
const MAINTENANCE = 100

/**
 * Codes that speak of the token, the sender's signature, the account or the message stream, never of this message (API overview, "API
 * error codes").
 */
const UNAVAILABLE: ReadonlySet<number> = new Set([
  10, // bad or missing token
  MAINTENANCE,
  400, // sender signature not found
  401, // sender signature not confirmed
  405, // no credits left
  412, // account is pending approval: other domains are refused
  413, // account may not send
  429 // rate limit
])

/** The block of the codes about message streams, all of which a setting names. */
const isAboutStream = (code: number): boolean => code >= 1220 && code <= 1239

/** The address bounced or complained before, and Postmark holds mail to it back: another provider must not get that mail either. */
const INACTIVE = 406

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) ? value : undefined

const kindOf = (status: number, code: number | undefined): FailureKind =>
  kindOfStatus(status, {
    // The vendor's own notice of an outage. Of its 500 it says that the message is lost "in most cases", which proves nothing.
    isOwn503: code === MAINTENANCE,
    refusal: () =>
      code !== undefined && (UNAVAILABLE.has(code) || isAboutStream(code)) ? "unavailable" : "rejected"
  })

const textFor = (code: number | undefined, body: unknown): string => {
  const message = textOf(fieldsOf(body)["Message"]) ?? "the provider gave no reason"
  return code === INACTIVE ? `Postmark holds mail to this recipient back: ${message}` : message
}

/**
 * Classifies an answer that names no message (MAIL-37): refusals prove that the mail was not accepted, a 5xx proves nothing unless it is
 * the vendor's notice of maintenance.
 */
export const classifyAnswer = ({ body, retryAfterMs, status }: Answer): Classified => {
  const code = numberOf(fieldsOf(body)["ErrorCode"])
  const kind = kindOf(status, code)
  const isTooFast = status === 429 || (kind === "unavailable" && code === 429)
  return {
    kind,
    code: failureCode(code === undefined ? undefined : String(code)),
    message: textFor(code, body),
    ...(isTooFast || retryAfterMs !== undefined
      ? {
          pace: {
            ...(isTooFast ? { holdMs: retryAfterMs ?? HOLD_MS } : {}),
            ...(retryAfterMs === undefined ? {} : { retryAfterMs })
          }
        }
      : {})
  }
}
