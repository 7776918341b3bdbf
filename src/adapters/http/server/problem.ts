import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"

import { fieldIssues } from "../../../domain/field-issues.ts"
import { strictDecoder } from "../../../domain/request-body.ts"

/** RFC 9457, section 3. */
export const PROBLEM_MEDIA_TYPE = "application/problem+json"

/**
 * Every problem that the server answers with: the closed set of codes (HTTP-1). `retryable` says that the same request may
 * succeed later and is safe to send again; for `EMAIL_FAILED` it depends on the failure.
 */
export const PROBLEMS = {
  INVALID_REQUEST: { status: 400, title: "The request is not valid", retryable: false },
  UNAUTHENTICATED: { status: 401, title: "A valid bearer token is required", retryable: false },
  INSUFFICIENT_CREDITS: { status: 402, title: "There are not enough credits", retryable: false },
  FORBIDDEN: { status: 403, title: "Not allowed", retryable: false },
  SENDER_NOT_ALLOWED: { status: 403, title: "The sender token does not allow this mail", retryable: false },
  NOT_FOUND: { status: 404, title: "There is nothing here", retryable: false },
  FILE_NOT_FOUND: { status: 404, title: "There is no such file", retryable: false },
  RESULT_NOT_READY: { status: 404, title: "There is no result yet", retryable: true },
  METHOD_NOT_ALLOWED: { status: 405, title: "The method is not allowed here", retryable: false },
  NOT_ACCEPTABLE: {
    status: 406,
    title: "There is no answer of a type that the request takes",
    retryable: false
  },
  REQUEST_TIMEOUT: { status: 408, title: "The request did not arrive in time", retryable: true },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    title: "The idempotency key stands for another payload",
    retryable: false
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    title: "A call with this idempotency key is under way",
    retryable: true
  },
  NOT_QUEUED: { status: 409, title: "The mail does not wait in the queue any more", retryable: false },
  CONVERSION_ACTIVE: { status: 409, title: "A conversion of this file is under way", retryable: false },
  CONVERSION_FINISHING: {
    status: 409,
    title: "The result is being put together and cannot be stopped any more",
    retryable: false
  },
  CONVERSION_INLINE: { status: 409, title: "This conversion cannot be stopped", retryable: false },
  NOT_CONVERTING: { status: 409, title: "No conversion of this file is under way", retryable: false },
  FILE_LIMIT_REACHED: { status: 409, title: "There is no room for another file", retryable: false },
  NOT_BATCH_WAITING: { status: 409, title: "The conversion does not wait for the batch", retryable: false },
  ALREADY_RESOLVED: { status: 409, title: "The free reflow was chosen already", retryable: false },
  EVENT_HOOK_OFF: { status: 409, title: "The event hook is off", retryable: false },
  EVENT_HOOK_OF_SETTINGS: {
    status: 409,
    title: "The event hook is changed in the settings",
    retryable: false
  },
  LINK_EXPIRED: {
    status: 410,
    title: "The link was used, has expired, or never was one",
    retryable: false
  },
  PAYLOAD_TOO_LARGE: { status: 413, title: "The request body is too large", retryable: false },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: "The request body is not of a type taken here",
    retryable: false
  },
  UNSUPPORTED_FILE_TYPE: { status: 415, title: "The file is of no type that is converted", retryable: false },
  UNREADABLE_FILE: { status: 422, title: "The file cannot be read", retryable: false },
  EMAIL_SUPPRESSED: { status: 422, title: "Every recipient is suppressed", retryable: false },
  UNSUBSCRIBED: { status: 422, title: "The address has unsubscribed from outreach", retryable: false },
  RATE_LIMITED: { status: 429, title: "Too many requests", retryable: true },
  HEADERS_TOO_LARGE: { status: 431, title: "The request headers are too large", retryable: false },
  EMAIL_FAILED: { status: 500, title: "The mail was not sent", retryable: false },
  INTERNAL: { status: 500, title: "Something failed inside", retryable: false },
  READER_CRASHED: { status: 500, title: "The document's reader died or took too long", retryable: true },
  TRANSFER_CODING_UNKNOWN: { status: 501, title: "The transfer coding is not known here", retryable: false },
  POLL_FAILED: { status: 502, title: "The provider's list of mails could not be read", retryable: true },
  ALERT_FAILED: { status: 502, title: "The alert reached no channel", retryable: true },
  DIGEST_FAILED: { status: 502, title: "A digest did not go out", retryable: true },
  ALERT_CHANNEL_UNCONFIGURED: {
    status: 503,
    title: "No wanted channel of the alert is configured",
    retryable: true
  },
  PROVIDER_NOT_CONFIGURED: { status: 503, title: "No mail provider is configured", retryable: false },
  UNAVAILABLE: { status: 503, title: "Something that this needs does not answer now", retryable: true },
  NOT_READY: { status: 503, title: "The service is not ready", retryable: true },
  SHUTTING_DOWN: { status: 503, title: "The server shut down before the request ended", retryable: false }
} as const satisfies Record<
  string,
  { readonly status: number; readonly title: string; readonly retryable: boolean }
>

/** A code of the closed set. */
export type ProblemCode = keyof typeof PROBLEMS

const CODES = Object.keys(PROBLEMS) as Array<ProblemCode>

/** The set as a schema, for the OpenAPI document. */
export const ProblemCode = Schema.Literals(CODES).annotate({
  identifier: "ProblemCode",
  description: CODES.map((code) => `\`${code}\` (${PROBLEMS[code].status}): ${PROBLEMS[code].title}.`).join(
    "\n"
  )
})

/** The members of every problem; some have more. */
export type Problem<C extends ProblemCode = ProblemCode> = {
  readonly type: string
  readonly title: string
  readonly status: (typeof PROBLEMS)[C]["status"]
  readonly detail: string
  readonly code: C
  readonly retryable: boolean
}

const typeOf = (code: ProblemCode): string =>
  `urn:postlane:problem:${code.toLowerCase().replaceAll("_", "-")}`

const componentName = (code: ProblemCode): string =>
  code
    .toLowerCase()
    .replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .concat("Problem")

/** One error of a request: the dotted path of the field (empty for the whole body), and a message. */
const ProblemIssue = Schema.Struct({ path: Schema.String, message: Schema.String }).annotate({
  identifier: "ProblemIssue"
})

/** Any problem, for clients that read only the common members. */
export const AnyProblem = Schema.Struct({
  type: Schema.String,
  title: Schema.String,
  status: Schema.Int,
  detail: Schema.String,
  code: ProblemCode,
  retryable: Schema.Boolean
}).annotate({
  identifier: "Problem",
  description: "Every answer outside 2xx (RFC 9457); some have members of their own beside these."
})

const schemaOf = <C extends ProblemCode, const F extends Schema.Struct.Fields>(code: C, members: F) =>
  Schema.Struct({
    type: Schema.String,
    title: Schema.String,
    status: Schema.Literal<(typeof PROBLEMS)[C]["status"]>(PROBLEMS[code].status),
    detail: Schema.String,
    code: Schema.Literal(code),
    retryable: Schema.Boolean,
    ...members
  })
    .annotate({ identifier: componentName(code), description: PROBLEMS[code].title })
    .pipe(
      HttpApiSchema.status(PROBLEMS[code].status as number),
      HttpApiSchema.asJson({ contentType: PROBLEM_MEDIA_TYPE })
    )

const plain = new Map<ProblemCode, unknown>()

/**
 * Declares that an endpoint answers with this problem; `members` are its additional ones. A problem without any is one schema wherever
 * it is declared: of two that are equal the OpenAPI document would make two components, and clients two types.
 */
export const problemSchema = <C extends ProblemCode, const F extends Schema.Struct.Fields>(
  code: C,
  members: F
): ReturnType<typeof schemaOf<C, F>> => {
  if (Object.keys(members).length > 0) return schemaOf(code, members)
  const known = plain.get(code) ?? schemaOf(code, members)
  plain.set(code, known)
  return known as ReturnType<typeof schemaOf<C, F>>
}

/** Problems that many endpoints declare. */
export const InvalidRequest = problemSchema("INVALID_REQUEST", { issues: Schema.Array(ProblemIssue) })
export const SenderRefused = problemSchema("SENDER_NOT_ALLOWED", { issues: Schema.Array(ProblemIssue) })
export const Forbidden = problemSchema("FORBIDDEN", {})
export const Unavailable = problemSchema("UNAVAILABLE", {})

/** Why a JSON body is refused. */
export const bodyRefusals = () =>
  [
    InvalidRequest,
    problemSchema("PAYLOAD_TOO_LARGE", {}),
    problemSchema("UNSUPPORTED_MEDIA_TYPE", {})
  ] as const

/** Makes a problem; `detail` is for people and names neither secrets nor internals. */
export const problem = <C extends ProblemCode>(code: C, detail: string): Problem<C> => {
  const { status, title, retryable } = PROBLEMS[code]
  return { type: typeOf(code), title, status, detail, code, retryable }
}

/** The answer that carries a problem. */
export const problemResponse = (
  body: Problem & Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), {
    status: body.status,
    contentType: PROBLEM_MEDIA_TYPE,
    headers
  })

/** Most issues that an answer names, and the longest message of one, characters. */
const MAX_ISSUES = 20
const MAX_ISSUE_LENGTH = 300

const shortened = (text: string): string =>
  text.length > MAX_ISSUE_LENGTH ? `${text.slice(0, MAX_ISSUE_LENGTH)}…` : text

type Issues = ReadonlyArray<{ readonly path: string; readonly message: string }>

/** A problem that names fields, in `detail` and as `issues`. */
const ofFields = <C extends ProblemCode>(
  code: C,
  issues: Issues
): Problem<C> & { readonly issues: ReadonlyArray<typeof ProblemIssue.Type> } => {
  const named = issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path: shortened(path), message: shortened(message) }))
  const detail = named.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ")
  const more = issues.length > named.length ? `; and ${issues.length - named.length} more` : ""
  return { ...problem(code, detail + more), issues: named }
}

/** The 400 for a request that does not decode. */
export const invalidRequest = (issues: Issues) => ofFields("INVALID_REQUEST", issues)

/** The 403 for a mail that the caller's token does not allow. */
export const notAllowed = (issues: Issues) => ofFields("SENDER_NOT_ALLOWED", issues)

/** The 400 for a value that its schema refuses. */
export const undecodable = (error: Schema.SchemaError) => invalidRequest(fieldIssues(error))

/** Makes a decoder of parsed bodies; its refusal names every wrong and every unknown field. */
export const bodyDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = strictDecoder(schema)
  return (body: unknown) => Effect.mapError(Effect.fromResult(decode(body)), invalidRequest)
}

/** The 400 for a cursor that `list` did not issue. */
export const invalidCursor = (list: "list" | "log") =>
  Effect.fail(
    invalidRequest([
      { path: "cursor", message: `is unknown; use the one that the previous page of this ${list} returned` }
    ])
  )

/** Logs why a part does not answer, and fails with the 503. */
export const unavailable = (log: string, detail: string) => (error: Error) =>
  Effect.andThen(Effect.logWarning(log, error), Effect.fail(problem("UNAVAILABLE", detail)))
