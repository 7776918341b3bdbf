import { type FailureKind, failureCode } from "../../domain/mail/failover.ts"
import { kindOfStatus } from "../../domain/mail/http-answer.ts"

/** The class of an SDK error. `message` is the vendor's, not yet sanitised for a log. */
interface Classified {
  readonly kind: FailureKind
  readonly code: string | undefined
  readonly message: string
}

/** The key's earlier request, which the vendor accepted within 24 hours, had another payload. */
export const KEY_IS_KNOWN = "invalid_idempotent_request"

/**
 * Names that the vendor uses for refusals only: they prove non-acceptance even in a body that carries no status. 401 and 403 are
 * always about the account or its key, so that every name they come with is `unavailable`.
 */
const KIND_BY_NAME: ReadonlyMap<string, FailureKind> = new Map([
  ["missing_api_key", "unavailable"],
  ["restricted_api_key", "unavailable"],
  ["suspended_api_key", "unavailable"],
  ["invalid_api_key", "unavailable"],
  ["invalid_permission", "unavailable"],
  ["rate_limit_exceeded", "unavailable"],
  ["daily_quota_exceeded", "unavailable"],
  ["monthly_quota_exceeded", "unavailable"],
  ["service_unavailable", "unavailable"],
  ["invalid_idempotency_key", "rejected"],
  [KEY_IS_KNOWN, "rejected"],
  ["invalid_attachment", "rejected"],
  ["invalid_from_address", "rejected"],
  ["invalid_parameter", "rejected"],
  ["invalid_region", "rejected"],
  ["missing_required_field", "rejected"],
  ["missing_required_parameter", "rejected"]
])

/** An invalid or expired key comes back as a plain `validation_error`, in one status or another (resend-node, PR 617). */
const refusesKey = (message: string): boolean => {
  const at = message.search(/\bapi key\b/i)
  return at !== -1 && /\b(?:invalid|not active|expired|suspended)\b/i.test(message.slice(at))
}
/** An unverified sender domain and the restriction of an account without one are settings, not this message's fault. */
const SENDER_UNVERIFIED = /\bdomain is not verified\b|\bonly send testing emails to\b/i

/** What the SDK says over `fetch` where there is no answer; over another transport its error holds the reason. */
const SDK_HAS_NO_ANSWER = "Unable to fetch data. The request could not be resolved."

/** Why there is no answer; undefined where there is one. */
export const whyNoAnswer = (error: unknown): string | undefined => {
  if (!isRecord(error) || error["statusCode"] !== null || error["name"] !== "application_error")
    return undefined
  const { message } = error
  return typeof message === "string" && message !== SDK_HAS_NO_ANSWER
    ? message
    : "the request did not get through"
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Another request holds the key, or the message: it may be accepted yet. */
const IS_HELD: ReadonlySet<string | undefined> = new Set([
  "concurrent_idempotent_requests",
  "resource_locked"
])

const byStatus = (status: number, name: string | undefined, message: string): FailureKind =>
  kindOfStatus(status, {
    // The SDK says `application_error` where the body is no JSON: a proxy's page, which proves nothing about what is behind it.
    isOwn503: name !== "application_error",
    refusal: () => {
      if (status === 409) return IS_HELD.has(name) ? "ambiguous" : "rejected"
      return refusesKey(message) || SENDER_UNVERIFIED.test(message) ? "unavailable" : "rejected"
    }
  })

/**
 * Classifies what the SDK returned as `error` (MAIL-30 to MAIL-33; Resend's error reference).
 *
 * The SDK does not return the HTTP status, only the one in the body. Every fetch-level failure – refused, DNS, reset, aborted, a
 * 200 that is no JSON – comes with a null status and is `ambiguous`; so is a body without a status, unless its name is one that
 * only refusals have. Names that are not known are classified by their status.
 */
export const classifyResendError = (error: unknown): Classified => {
  if (!isRecord(error)) {
    return { kind: "ambiguous", code: undefined, message: "the provider's answer cannot be read" }
  }
  const code = failureCode(error["name"])
  const message = typeof error["message"] === "string" ? error["message"] : "the provider gave no reason"
  const status = error["statusCode"]
  if (typeof status === "number") return { kind: byStatus(status, code, message), code, message }
  const known = code === undefined ? undefined : KIND_BY_NAME.get(code)
  return { kind: known ?? "ambiguous", code, message }
}
