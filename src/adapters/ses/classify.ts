import { type FailureKind, failureCode } from "../../domain/mail/failover.ts"
import { kindOfStatus } from "../../domain/mail/http-answer.ts"
import { CREDENTIALS_ERROR } from "./credentials.ts"

/** How long the service is left alone after it was asked too fast: its rate is counted by the second, milliseconds. */
const HOLD_MS = 1_000

/** The class of an SDK error. `message` is the vendor's, not yet sanitised for a log. */
interface Classified {
  readonly kind: FailureKind
  /** Whether no answer arrived. */
  readonly unanswered?: true
  /** Of the answer. */
  readonly status?: number
  readonly code: string | undefined
  readonly message: string
  /** Of a refusal of the rate alone. */
  readonly holdMs?: number
}

/** Quotas come under several names, so that the text is looked at first (SES developer guide, "Errors related to quotas"). */
const QUOTA = /daily message quota|maximum sending rate/i
/** The rate, not what is allowed in a day. */
const RATE = /maximum sending rate|rate exceeded|^TooManyRequestsException$/i
/** The sender's identity, and every recipient's while the account is in the sandbox: configuration, not a bad address. */
const UNVERIFIED = /\bis not verified\b/i

/** 4xx names that speak of the account, its credentials or its quota, never of this message. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  "TooManyRequestsException",
  "LimitExceededException",
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "RequestThrottled",
  "RequestThrottledException",
  "RequestLimitExceeded",
  "AccountSuspendedException",
  "SendingPausedException",
  "AccountSendingPausedException",
  "ConfigurationSetSendingPausedException",
  "MailFromDomainNotVerifiedException",
  "ExpiredToken",
  "ExpiredTokenException",
  "RequestExpired",
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
  "IncompleteSignature",
  "IncompleteSignatureException",
  "MissingAuthenticationToken",
  "MissingAuthenticationTokenException",
  "AccessDenied",
  "AccessDeniedException",
  "NotAuthorized",
  "OptInRequired"
])

/** An error response that the SDK could parse; only such a one is known to come from the service itself. */
const isServiceError = (error: Error, message: string): boolean =>
  // An empty body parses as an error of no name (unless a header gives one) and no text: it may be a proxy's.
  "$fault" in error && (message !== "UnknownError" || error.name !== "Unknown")

const byStatus = (status: number, parsed: boolean, name: string | undefined, message: string): FailureKind =>
  kindOfStatus(status, {
    isOwn503: parsed,
    refusal: () =>
      QUOTA.test(message) || UNVERIFIED.test(message) || (name !== undefined && UNAVAILABLE.has(name))
        ? "unavailable"
        : "rejected"
  })

/**
 * Classifies what the SDK threw (MAIL-34; SES API reference, "SendEmail").
 *
 * No status means that no answer arrived: refused, DNS, reset, aborted and timed out are all `ambiguous`. A 5xx that is no JSON
 * (the SDK's `SyntaxError`, or an answer that broke off) is a proxy's page and `ambiguous` whatever its status; a 4xx is a
 * refusal even then. A failure to get credentials comes before any request.
 */
export const classifySesError = (error: unknown): Classified => {
  if (!(error instanceof Error))
    return { kind: "ambiguous", code: undefined, message: "the SDK threw no error" }
  const code = failureCode(error.name)
  // The first line alone: a refused signature brings the request as the service saw it, session token and all, in the
  // lines after it, and the SDK adds advice for developers.
  const message = error.message.split(/[\r\n]|The Canonical String/, 1)[0] || error.name
  if (error.name === CREDENTIALS_ERROR) return { kind: "unavailable", code, message }
  const { httpStatusCode: status } = Object((error as { readonly $metadata?: unknown }).$metadata) as {
    readonly httpStatusCode?: unknown
  }
  if (typeof status !== "number") return { kind: "ambiguous", unanswered: true, code, message }
  const kind = byStatus(status, isServiceError(error, message), code, message)
  const isTooFast = kind === "unavailable" && (RATE.test(message) || RATE.test(code ?? ""))
  return { kind, status, code, message, ...(isTooFast ? { holdMs: HOLD_MS } : {}) }
}
