import { Result } from "effect"

import { makeMessage, type SendRequest } from "../../domain/mail/message.ts"
import { decodeSendRequest } from "../../domain/mail/read-request.ts"
import {
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest,
  type SendResult
} from "../../domain/mail/send-result.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"
import { unknownName } from "../../domain/nearest-name.ts"
import type { DropInOptions, Send } from "./send.ts"

/** An attachment as Resend's SDK takes it. */
interface ResendAttachment {
  readonly content?: string | Uint8Array | ArrayBuffer | undefined
  readonly filename?: string | false | undefined
  readonly contentType?: string | undefined
  readonly contentId?: string | undefined
  /** Refused: nothing is fetched. */
  readonly path?: string | undefined
}

/** Members under the names that earlier versions of the SDK gave them, and the HTTP API does: they are taken. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ["reply_to", "replyTo"],
  ["scheduled_at", "scheduledAt"],
  ["topic_id", "topicId"],
  ["content_type", "contentType"],
  ["content_id", "contentId"],
  ["inlineContentId", "contentId"],
  ["inline_content_id", "contentId"],
  ["idempotency_key", "idempotencyKey"],
  ["batch_validation", "batchValidation"]
])

/** The options of `resend.emails.send`; those that are refused are here so that calls with them still compile. */
export interface ResendEmail {
  readonly from: string
  readonly to: string | Array<string>
  readonly cc?: string | Array<string> | undefined
  readonly bcc?: string | Array<string> | undefined
  readonly replyTo?: string | Array<string> | undefined
  readonly subject: string
  readonly html?: string | undefined
  readonly text?: string | undefined
  readonly headers?: Record<string, string> | undefined
  readonly tags?: Array<{ readonly name: string; readonly value: string }> | undefined
  readonly attachments?: Array<ResendAttachment> | undefined
  readonly react?: unknown
  readonly template?: unknown
  readonly scheduledAt?: string | undefined
  readonly topicId?: string | null | undefined
  /** Beyond Resend: which suppressions apply, and where the mail comes from. */
  readonly category?: Category | undefined
  readonly source?: string | undefined
}

/** Names of Resend's errors that an answer here can have. */
type ResendErrorName =
  | "validation_error"
  | "invalid_parameter"
  | "invalid_attachment"
  | "invalid_idempotent_request"
  | "concurrent_idempotent_requests"
  | "application_error"

export interface ResendError {
  readonly name: ResendErrorName
  readonly message: string
  readonly statusCode: number
}

export type ResendAnswer<T> =
  | { readonly data: T; readonly error: null; readonly headers: null }
  | { readonly data: null; readonly error: ResendError; readonly headers: null }

export interface ResendRequestOptions {
  readonly idempotencyKey?: string | undefined
}

export interface ResendBatchOptions extends ResendRequestOptions {
  readonly batchValidation?: "strict" | "permissive" | undefined
}

/** Of a mail: its id in the send log, and how the send ended. */
interface ResendSent {
  readonly id: string
  readonly status: SendResult["status"]
}

interface ResendBatchSent {
  readonly data: Array<{ readonly id: string }>
  /** With `batchValidation: "permissive"`. */
  readonly errors?: Array<{ readonly index: number; readonly message: string }>
}

/** Most mails of one batch, as with Resend; how many are sent at once. */
const MAX_BATCH = 100
const AT_ONCE = 10

/** What Resend's own service does and this one does not: refused, since leaving it out would send another mail than was meant. */
const REFUSED = {
  react: "render the component first, for example with @react-email/render, and pass html",
  template: "templates are kept by Resend: render the mail first, and pass html",
  scheduledAt: "mails are not scheduled: call at the time, from a job",
  topicId: "topics are kept by Resend"
} as const

const failure = (name: ResendErrorName, statusCode: number, message: string) => ({
  data: null,
  error: { name, statusCode, message },
  headers: null
})

const success = <T>(data: T) => ({ data, error: null, headers: null })

const base64Of = (content: string | Uint8Array | ArrayBuffer): string => {
  if (typeof content === "string") return content
  const bytes = content instanceof ArrayBuffer ? new Uint8Array(content) : content
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
}

type Read = { readonly request: SendRequest } | { readonly refused: ReturnType<typeof failure> }

/** Stands in for the sender of the settings: which one it is makes no mail valid. */
const ANY_SENDER = {
  from: { name: undefined, local: "noreply", domain: "postlane.test" },
  domains: { sender: "postlane.test", legacy: "postlane.test" }
}

const EMAIL = [
  "from",
  "to",
  "cc",
  "bcc",
  "replyTo",
  "subject",
  "html",
  "text",
  "headers",
  "tags",
  "attachments"
]
const EMAIL_MEMBERS = [...EMAIL, ...Object.keys(REFUSED), "category", "source"]
const ATTACHMENT_MEMBERS = ["filename", "content", "contentType", "contentId", "path"]
const OPTIONS = ["idempotencyKey"]
const BATCH_OPTIONS = [...OPTIONS, "batchValidation"]

/** The members by their names of today, or why one is refused: it would be left out of the mail. */
const renamed = <A extends object>(given: A, known: ReadonlyArray<string>): Result.Result<A, string> => {
  const members = new Map<string, unknown>()
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    const today = OLD_NAMES.get(name) ?? name
    if (!known.includes(today)) return Result.fail(`${name} ${unknownName(name, known)}`)
    if (members.has(today)) return Result.fail(`${today} is there twice, under two names`)
    members.set(today, value)
  }
  return Result.succeed(Object.fromEntries(members) as A)
}

/** The email and its attachments by their names of today. */
const namedToday = (email: ResendEmail): Result.Result<ResendEmail, string> =>
  Result.gen(function* () {
    const today = yield* renamed(email, EMAIL_MEMBERS)
    if (!Array.isArray(today.attachments)) return today
    const attachments: Array<ResendAttachment> = []
    for (const one of today.attachments) attachments.push(yield* renamed(one, ATTACHMENT_MEMBERS))
    return { ...today, attachments }
  })

const unknownMember = (message: string) => failure("invalid_parameter", 422, message)

/** Our request of a Resend call; checked by the rules of the library, so that a batch knows before it begins. */
const requestOf = (given: ResendEmail, options: DropInOptions, idempotencyKey: string | undefined): Read => {
  const named = namedToday(given)
  if (Result.isFailure(named)) return { refused: unknownMember(named.failure) }
  const email = named.success
  for (const [name, advice] of Object.entries(REFUSED)) {
    if ((email[name as keyof typeof REFUSED] ?? undefined) !== undefined)
      return { refused: failure("invalid_parameter", 422, `${name}: ${advice}`) }
  }
  const attachments = email.attachments ?? []
  const without = attachments.find(({ content, filename }) => content === undefined || !filename)
  if (without !== undefined) {
    const reason = "an attachment needs content and filename; a path is not fetched"
    return { refused: failure("invalid_attachment", 422, reason) }
  }
  const { bcc, cc, from, headers, html, replyTo, subject, tags, text, to } = email
  const body = {
    from,
    to,
    cc,
    bcc,
    replyTo,
    subject,
    html,
    text,
    headers,
    idempotencyKey,
    tags: tags && Object.fromEntries(tags.map(({ name, value }) => [name, value])),
    attachments: attachments.map(({ content = "", contentId, contentType, filename }) => ({
      filename,
      contentType,
      contentId,
      content: base64Of(content)
    })),
    category: email.category ?? options.category ?? "transactional",
    source: email.source ?? options.source ?? "resend"
  }
  const checked = Result.flatMap(decodeSendRequest(body), (request) =>
    Result.map(makeMessage(request, ANY_SENDER), () => request)
  )
  if (Result.isSuccess(checked)) return { request: checked.success }
  const { message } = new InvalidRequest({ issues: checked.failure })
  return { refused: failure("validation_error", 422, message) }
}

/** The messages of a send that was not begun, kept apart from others here: a result has no other mark of them. */
const CONFLICT = new IdempotencyConflict({ idempotencyKey: "" }).message
const IN_PROGRESS = new IdempotencyInProgress({ idempotencyKey: "" }).message

const errorOf = (result: SendResult & { readonly ok: false }) => {
  if (result.error === CONFLICT) return failure("invalid_idempotent_request", 409, result.error)
  if (result.error === IN_PROGRESS) return failure("concurrent_idempotent_requests", 409, result.error)
  if (result.status === "suppressed" || result.kind === "rejected")
    return failure("validation_error", 422, result.error)
  return failure("application_error", result.kind === "unavailable" ? 503 : 500, result.error)
}

const answerOf = (result: SendResult): ResendAnswer<ResendSent> =>
  result.ok ? success({ id: result.sendId, status: result.status }) : errorOf(result)

/** The part of Resend's SDK that sends, with its names, options and answers, on Postlane. */
export interface ResendDropIn {
  readonly emails: {
    readonly send: (email: ResendEmail, options?: ResendRequestOptions) => Promise<ResendAnswer<ResendSent>>
    readonly create: ResendDropIn["emails"]["send"]
  }
  readonly batch: {
    readonly send: (
      emails: Array<ResendEmail>,
      options?: ResendBatchOptions
    ) => Promise<ResendAnswer<ResendBatchSent>>
    readonly create: ResendDropIn["batch"]["send"]
  }
}

type SendOne = (request: SendRequest) => Promise<SendResult>

/** Sends several at once and no more, in order; answers stand where their requests did. */
const sendAll = async (requests: ReadonlyArray<SendRequest | undefined>, send: SendOne) => {
  const answers = new Map<number, ResendAnswer<ResendSent>>()
  let next = 0
  const work = async () => {
    while (next < requests.length) {
      const at = next
      next += 1
      const request = requests[at]
      if (request !== undefined) answers.set(at, answerOf(await send(request)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return answers
}

const sendBatch = async (
  reads: ReadonlyArray<Read>,
  send: SendOne,
  permissive: boolean
): Promise<ResendAnswer<ResendBatchSent>> => {
  const refused = reads.find((read) => "refused" in read)
  // Strict, as with Resend: one that is not valid, and none goes out.
  if (refused !== undefined && !permissive) return refused.refused
  const answers = await sendAll(
    reads.map((read) => ("request" in read ? read.request : undefined)),
    send
  )
  const data: Array<{ readonly id: string }> = []
  const errors: Array<{ readonly index: number; readonly message: string }> = []
  let first: ResendError | undefined
  for (const [index, read] of reads.entries()) {
    const answer = "refused" in read ? read.refused : answers.get(index)
    if (answer?.data) data.push({ id: answer.data.id })
    else if (answer?.error) {
      errors.push({ index, message: answer.error.message })
      first ??= answer.error
    }
  }
  if (permissive) return success({ data, errors })
  if (first === undefined) return success({ data })
  const message = `${data.length} of ${reads.length} were accepted, mail ${errors[0]?.index ?? 0} was not: ${first.message}`
  return failure(first.name, first.statusCode, message)
}

/** Makes the drop-in on a function that sends. */
export const makeResend = (send: Send, options: DropInOptions, apiKey: string | undefined): ResendDropIn => {
  const one: SendOne = (request) => send(request, { env: options.env, apiKey })
  const sendEmail = async (email: ResendEmail, given: ResendRequestOptions = {}) => {
    const asked = renamed(given, OPTIONS)
    if (Result.isFailure(asked)) return unknownMember(asked.failure)
    const read = requestOf(email, options, asked.success.idempotencyKey)
    return "refused" in read ? read.refused : answerOf(await one(read.request))
  }
  const batch = async (emails: Array<ResendEmail>, given: ResendBatchOptions = {}) => {
    if (emails.length > MAX_BATCH)
      return failure("validation_error", 422, `a batch has ${MAX_BATCH} mails at most`)
    const asked = renamed(given, BATCH_OPTIONS)
    if (Result.isFailure(asked)) return unknownMember(asked.failure)
    const { batchValidation, idempotencyKey: key } = asked.success
    // Each mail has a key of its own, which a call with the same batch and key repeats.
    const reads = emails.map((email, at) =>
      requestOf(email, options, key === undefined ? undefined : `${key}/${at}`)
    )
    return sendBatch(reads, one, batchValidation === "permissive")
  }
  return { emails: { send: sendEmail, create: sendEmail }, batch: { send: batch, create: batch } }
}
