import type { FailureKind } from "../../../src/domain/mail/failover.ts"
import type { Outcome, Reply } from "../../support/vendors/fake-http.ts"

/** A refusal in the vendor's shape. */
export const says = (status: number, name: string, message = "The vendor's words."): Outcome => ({
  reply: { status, body: { statusCode: status, name, message } }
})
const answers = (status: number, body: string | object, headers?: Reply["headers"]): Outcome => ({
  reply: { status, body, ...(headers === undefined ? {} : { headers }) }
})
const PAGE = "<html><body><h1>Bad gateway</h1></body></html>"

/** MAIL-33 and Resend's error reference, row by row. */
export const ROWS: ReadonlyArray<
  readonly [what: string, outcome: Outcome, kind: FailureKind, code?: string]
> = [
  [
    "400 invalid_idempotency_key",
    says(400, "invalid_idempotency_key"),
    "rejected",
    "invalid_idempotency_key"
  ],
  ["400 validation_error", says(400, "validation_error"), "rejected", "validation_error"],
  [
    "400 validation_error that means the key",
    says(400, "validation_error", "API key is invalid"),
    "unavailable"
  ],
  ["401 missing_api_key", says(401, "missing_api_key"), "unavailable", "missing_api_key"],
  ["401 restricted_api_key", says(401, "restricted_api_key"), "unavailable"],
  [
    "401 validation_error that means the key",
    says(401, "validation_error", "API key is invalid"),
    "unavailable"
  ],
  ["403 restricted_api_key", says(403, "restricted_api_key", "API key is not active"), "unavailable"],
  ["403 suspended_api_key", says(403, "suspended_api_key"), "unavailable"],
  ["403 invalid_api_key", says(403, "invalid_api_key"), "unavailable"],
  ["403 invalid_permission", says(403, "invalid_permission"), "unavailable"],
  [
    "403 unverified sender domain",
    says(403, "validation_error", "The x.test domain is not verified. Please, add and verify your domain."),
    "unavailable",
    "validation_error"
  ],
  [
    "403 restriction to the account's own address",
    says(403, "validation_error", "You can only send testing emails to your own email address (me@x.test)."),
    "unavailable"
  ],
  ["404 not_found", says(404, "not_found"), "rejected"],
  ["405 method_not_allowed", says(405, "method_not_allowed"), "rejected"],
  ["408 of a gateway", answers(408, PAGE), "ambiguous"],
  [
    "409 invalid_idempotent_request",
    says(409, "invalid_idempotent_request"),
    "rejected",
    "invalid_idempotent_request"
  ],
  ["409 concurrent_idempotent_requests", says(409, "concurrent_idempotent_requests"), "ambiguous"],
  ["409 resource_locked", says(409, "resource_locked"), "ambiguous"],
  ["413 of a proxy", answers(413, PAGE), "rejected"],
  ["422 invalid_attachment", says(422, "invalid_attachment"), "rejected"],
  ["422 invalid_from_address", says(422, "invalid_from_address"), "rejected"],
  ["422 missing_required_field", says(422, "missing_required_field"), "rejected"],
  ["422 a name of the future", says(422, "moon_phase_error"), "rejected", "moon_phase_error"],
  ["425 too early", answers(425, PAGE), "unavailable"],
  ["429 rate_limit_exceeded", says(429, "rate_limit_exceeded"), "unavailable", "rate_limit_exceeded"],
  ["429 daily_quota_exceeded", says(429, "daily_quota_exceeded"), "unavailable", "daily_quota_exceeded"],
  [
    "429 monthly_quota_exceeded",
    says(429, "monthly_quota_exceeded"),
    "unavailable",
    "monthly_quota_exceeded"
  ],
  ["429 of a proxy", answers(429, PAGE), "unavailable"],
  ["451 security_error", says(451, "security_error"), "rejected"],
  ["500 application_error", "500", "ambiguous", "application_error"],
  ["500 internal_server_error", says(500, "internal_server_error"), "ambiguous"],
  ["500 service_unavailable", says(500, "service_unavailable"), "ambiguous"],
  ["500, the body breaks off", "truncated-500", "ambiguous", "application_error"],
  ["500, body null", answers(500, "null"), "ambiguous"],
  ["500, body a string", answers(500, '"oops"'), "ambiguous"],
  ["502, JSON of a gateway", answers(502, { message: "Bad gateway" }), "ambiguous"],
  ["502, a page", "502-html", "ambiguous", "application_error"],
  ["503 service_unavailable", "503", "unavailable", "service_unavailable"],
  ["503, a name of the future", says(503, "maintenance"), "unavailable", "maintenance"],
  ["503, a page", "503-html", "ambiguous", "application_error"],
  ["503, empty", answers(503, ""), "ambiguous", "application_error"],
  ["504, a page", "504", "ambiguous", "application_error"],
  ["504, JSON", says(504, "application_error"), "ambiguous"],
  ["520, a page", answers(520, PAGE), "ambiguous"],
  ["a refusal without a status", answers(429, { name: "daily_quota_exceeded", message: "…" }), "unavailable"],
  ["200 without an id", "no-id-200", "ambiguous"],
  ["200, id empty", answers(200, { id: "" }), "ambiguous"],
  ["200, id a number", answers(200, { id: 7 }), "ambiguous"],
  ["200, body null", answers(200, "null"), "ambiguous"],
  ["200, empty", "empty-200", "ambiguous", "application_error"],
  ["200, a page", "html-200", "ambiguous", "application_error"],
  ["200, the body breaks off", "truncated-200", "ambiguous", "application_error"],
  ["200, accepted, the body breaks off", "truncated-200-accepted", "ambiguous"],
  ["200, a blank id", answers(200, { id: " " }), "ambiguous"],
  ["200, an endless id", answers(200, { id: "i".repeat(501) }), "ambiguous"],
  ["302", answers(302, "", { location: "/elsewhere" }), "ambiguous"],
  ["307", answers(307, "", { location: "/emails" }), "ambiguous"],
  ["reset before the body was read", "reset-before", "ambiguous"],
  ["reset after the body was read", "reset", "ambiguous"],
  ["accepted, then reset", "reset-after", "ambiguous"],
  ["connection refused", "refused", "ambiguous", "application_error"]
]

/** JSON errors that name another status than the answer's: what one of them leaves open is not proven by the other. */
export const OTHER_STATUS: ReadonlyArray<readonly [what: string, outcome: Outcome, kind: FailureKind]> = [
  ["502 with the body of a 429", answers(502, { statusCode: 429, name: "rate_limit_exceeded" }), "ambiguous"],
  ["504 with the body of a 503", answers(504, { statusCode: 503, name: "service_unavailable" }), "ambiguous"],
  ["500 with the body of a 422", answers(500, { statusCode: 422, name: "validation_error" }), "ambiguous"],
  ["302 with the body of a 401", answers(302, { statusCode: 401, name: "missing_api_key" }), "ambiguous"],
  ["429 with the body of a 500", answers(429, { statusCode: 500, name: "application_error" }), "ambiguous"],
  ["400 with the body of a 401", answers(400, { statusCode: 401, name: "validation_error" }), "unavailable"],
  [
    "422 with the body of a 429",
    answers(422, { statusCode: 429, name: "daily_quota_exceeded" }),
    "unavailable"
  ]
]

/** JSON errors that do not name their status, and what the answer's own status says of them. */
export const WITHOUT_STATUS: ReadonlyArray<readonly [what: string, outcome: Outcome, known: FailureKind]> = [
  ["422, an unknown name", answers(422, { name: "nope", message: "…" }), "rejected"],
  ["422 validation_error", answers(422, { name: "validation_error", message: "…" }), "rejected"],
  ["400, a text alone", answers(400, { message: "…", statusCode: null }), "rejected"],
  ["403, a text alone", answers(403, { error: "…" }), "unavailable"],
  ["429, a text alone", answers(429, { message: "…" }), "unavailable"],
  ["429, a list", answers(429, "[]"), "unavailable"],
  ["503, a text alone", answers(503, { message: "…" }), "unavailable"],
  ["503, a list", answers(503, "[]"), "ambiguous"],
  ["503, null", answers(503, "null"), "ambiguous"],
  ["500, a text alone", answers(500, { message: "…" }), "ambiguous"],
  ["502, empty JSON", answers(502, {}), "ambiguous"]
]
