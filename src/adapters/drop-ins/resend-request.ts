import { Result } from "effect"

import type { FieldIssue } from "../../domain/field-issues.ts"
import { makeMessage, type SendRequest } from "../../domain/mail/message.ts"
import { decodeQueueRequest } from "../../domain/mail/read-request.ts"
import { InvalidRequest } from "../../domain/mail/send-result.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"
import { unknownName } from "../../domain/nearest-name.ts"
import { failure, notTaken, type ResendFailure } from "./resend-answers.ts"
import { shapeFault } from "./resend-wire.ts"
import type { DropInOptions } from "./send.ts"

/** An attachment as Resend's SDK takes it. */
interface ResendAttachment {
  /** Base64, or bytes; as JSON they are a list of numbers. */
  readonly content?: string | Uint8Array | ArrayBuffer | ReadonlyArray<number> | undefined
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
  /** ISO 8601 with its time zone, at most 30 days ahead; needs the send queue. */
  readonly scheduledAt?: string | undefined
  readonly react?: unknown
  readonly template?: unknown
  readonly topicId?: string | null | undefined
  /** Beyond Resend: which suppressions apply, and where the mail comes from. */
  readonly category?: Category | undefined
  readonly source?: string | undefined
  /** The mailing list that the mail belongs to: its reader leaves it by one click. */
  readonly list?: string | undefined
}

/**
 * An email as code of Resend's SDK has it, for functions that are handed one: a template may name sender and subject, so that both may be
 * absent. It is refused.
 */
export type GivenEmail = ResendEmail | (Partial<ResendEmail> & { readonly template: unknown })

/** What Resend's own service does and this one does not: refused, since leaving it out would send another mail than was meant. */
const REFUSED = {
  react: "render the component first, for example with @react-email/render, and pass html",
  template: "templates are kept by Resend: render the mail first, and pass html",
  topicId: "topics are kept by Resend"
} as const

const base64Of = (content: string | Uint8Array | ArrayBuffer | ReadonlyArray<number>): string => {
  if (typeof content === "string") return content
  if (!(content instanceof ArrayBuffer || ArrayBuffer.isView(content)))
    return Buffer.from([...content]).toString("base64")
  const bytes = content instanceof ArrayBuffer ? new Uint8Array(content) : content
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
}

/** What is sent, and when. */
export interface Scheduled {
  readonly request: SendRequest
  /** ISO 8601; absent where it is sent at once. */
  readonly sendAt: string | undefined
}

export type Read = Scheduled | { readonly refused: ResendFailure }

/** Placeholder for the sender of the settings: validation does not depend on which one it is. */
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
  "attachments",
  "scheduledAt"
]
const EMAIL_MEMBERS = [...EMAIL, ...Object.keys(REFUSED), "category", "source", "list"]
const ATTACHMENT_MEMBERS = ["filename", "content", "contentType", "contentId", "path"]

/** The members by their names of today, or why one is refused: it would be left out of the mail. */
export const renamed = <A extends object>(
  given: A,
  known: ReadonlyArray<string>
): Result.Result<A, string> => {
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
const namedToday = (email: GivenEmail): Result.Result<Partial<ResendEmail>, string> =>
  Result.gen(function* () {
    const today: Partial<ResendEmail> = yield* renamed(email, EMAIL_MEMBERS)
    if (!Array.isArray(today.attachments)) return today
    const attachments: Array<ResendAttachment> = []
    for (const one of today.attachments) attachments.push(yield* renamed(one, ATTACHMENT_MEMBERS))
    return { ...today, attachments }
  })

/** A name with parentheses and without quotes. By RFC 5322 they are a comment, which is dropped; Resend keeps them in the name. */
const NAME_WITH_BRACKETS = /^([^"<>()]*[()][^"<>]*)<([^<>]+)>$/

const asMeant = (address: unknown): unknown => {
  const [, name, mailbox] = typeof address === "string" ? (NAME_WITH_BRACKETS.exec(address.trim()) ?? []) : []
  return name === undefined ? address : `"${name.trim().replaceAll("\\", "\\\\")}" <${mailbox}>`
}

const addressesAsMeant = (addresses: unknown): unknown =>
  Array.isArray(addresses) ? addresses.map(asMeant) : asMeant(addresses)

/** Resend also reads dates in words. */
const inTheirWords = (issue: FieldIssue): FieldIssue =>
  issue.path === "sendAt"
    ? { path: "scheduledAt", message: `${issue.message}; words such as "in 1 hour" are not read` }
    : issue

/** Our request of a Resend call; checked by the rules of the library, so that a batch knows before it begins. */
export const requestOf = (
  given: GivenEmail,
  options: DropInOptions,
  idempotencyKey: string | undefined
): Read => {
  const fault = shapeFault(given)
  if (fault !== undefined) return { refused: fault }
  const named = namedToday(given)
  if (Result.isFailure(named)) return { refused: notTaken(named.failure) }
  const email = named.success
  for (const [name, advice] of Object.entries(REFUSED)) {
    if ((email[name as keyof typeof REFUSED] ?? undefined) !== undefined)
      return { refused: notTaken(`${name}: ${advice}`) }
  }
  const attachments = email.attachments ?? []
  const without = attachments.find(
    ({ content, filename, path }) => content === undefined || !filename || (path ?? undefined) !== undefined
  )
  if (without !== undefined) {
    const reason = "an attachment needs content and filename, and no path: nothing is fetched"
    return { refused: failure("invalid_attachment", 422, reason) }
  }
  const names = Array.isArray(email.tags) ? email.tags.map(({ name }) => name) : []
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined)
    return { refused: failure("validation_error", 422, `tags: ${twice} is there twice`) }
  const { bcc, cc, from, headers, html, replyTo, scheduledAt, subject, tags, text, to } = email
  const body = {
    from: addressesAsMeant(from),
    to: addressesAsMeant(to),
    cc: addressesAsMeant(cc),
    bcc: addressesAsMeant(bcc),
    replyTo: addressesAsMeant(replyTo),
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
    list: email.list,
    source: email.source ?? options.source ?? "resend",
    sendAt: scheduledAt
  }
  const checked = Result.flatMap(decodeQueueRequest(body), ({ mail, sendAt }) =>
    Result.map(makeMessage(mail, ANY_SENDER), () => ({ request: mail, sendAt }))
  )
  if (Result.isSuccess(checked)) return checked.success
  const { message } = new InvalidRequest({ issues: checked.failure.map(inTheirWords) })
  return { refused: failure("validation_error", 422, message) }
}
