import { Result, Schema } from "effect"

import type { FieldIssue } from "../field-issues.ts"
import { append } from "../lists.ts"
import {
  addressKey,
  type Mailbox,
  onceEach,
  parseMailbox,
  rewriteSender,
  type SenderDomains
} from "./address.ts"
import { Provider } from "./provider.ts"
import { Category } from "./suppression/policy.ts"
import { tagFaults } from "./tag.ts"

/** Most recipients of one mail, To, Cc and Bcc together: both providers' limit. */
const MAX_RECIPIENTS = 50

/** Longest idempotency key, in characters. */
export const MAX_KEY_LENGTH = 256

const OneOrMany = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/** An attachment of a send request; `content` is base64, a `contentId` makes it an inline part. */
const AttachmentBody = Schema.Struct({
  filename: Schema.NonEmptyString.check(Schema.isMaxLength(255)),
  contentType: Schema.optional(Schema.String.check(Schema.isMaxLength(78))),
  content: Schema.String,
  contentId: Schema.optional(Schema.NonEmptyString.check(Schema.isMaxLength(78)))
})

const ConfigurationSet = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u, {
    message: "must be 1 to 64 letters, digits, hyphens and underscores"
  })
)

/** The name of a mailing list: part of its links and of its `List-Id`. */
export const ListName = Schema.String.check(
  Schema.isMaxLength(64),
  Schema.isPattern(/^[a-z0-9]+(?:[._-][a-z0-9]+)*$/u, {
    message: "must be small letters and digits, with single dots, hyphens and underscores between them"
  })
)

/**
 * The body of the relay routes and the argument of `sendEmail` (MAIL-10 to MAIL-14).
 *
 * @since 0.1.0
 * @category models
 */
export const SendRequest = Schema.Struct({
  to: OneOrMany,
  cc: Schema.optional(OneOrMany),
  bcc: Schema.optional(OneOrMany),
  from: Schema.optional(Schema.String),
  replyTo: Schema.optional(OneOrMany),
  subject: Schema.String,
  html: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  category: Category,
  /** The mailing list that the mail belongs to (`weekly`): its readers leave it by one click, and get other mail still (MAIL-67). */
  list: Schema.optional(ListName),
  source: Schema.NonEmptyString.check(Schema.isMaxLength(200)),
  provider: Schema.optional(Provider),
  configurationSet: Schema.optional(ConfigurationSet),
  tags: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  headers: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  idempotencyKey: Schema.optional(Schema.NonEmptyString.check(Schema.isMaxLength(MAX_KEY_LENGTH))),
  attachments: Schema.optional(Schema.Array(AttachmentBody)),
  /** ISO 8601: from then on the mail is worthless (a sign-in link), and no retry goes out (MAIL-14). */
  expiresAt: Schema.optional(Schema.String),
  /** Rather a retryable refusal than a send without suppression look-up and claim, where the database does not answer (MAIL-45). */
  requireClaim: Schema.optional(Schema.Boolean),
  /**
   * Milliseconds after which the answer is `deferred` where the provider has given none (MAIL-59): its retry is queued by then, and the
   * provider's answer still settles it. Without a retry queue the caller waits.
   */
  deferAfterMs: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 60_000 })))
})
export type SendRequest = typeof SendRequest.Type

/** An attachment as the providers get it. */
export interface Attachment {
  readonly filename: string
  readonly contentType: string | undefined
  /** Base64, padded, standard alphabet. */
  readonly content: string
  readonly contentId: string | undefined
}

/** A message that can be sent: parsed, checked, its From rewritten. Provider requests are made from it alone. */
export interface Message {
  readonly from: Mailbox
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly bcc: ReadonlyArray<Mailbox>
  readonly replyTo: ReadonlyArray<Mailbox>
  readonly subject: string
  readonly html: string | undefined
  readonly text: string | undefined
  readonly category: Category
  readonly list: string | undefined
  readonly source: string
  readonly provider: Provider | undefined
  readonly configurationSet: string | undefined
  /** Names and values as the caller wrote them; adapters encode them. */
  readonly tags: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: ReadonlyArray<Attachment>
  /** Milliseconds since the epoch: no retry goes out from then on. */
  readonly expiresAt: number | undefined
}

/** What a request needs from the settings to become a message. */
export interface MessageDefaults {
  readonly from: Mailbox
  readonly domains: SenderDomains
}

/**
 * Headers with a separate field in the request, or that steer delivery: callers may not set them (MAIL-11). The last are orders to Amazon SES,
 * SendGrid, SparkPost, Mailgun, Postmark, Mandrill, Mailjet or Brevo behind a relay, such as other recipients, or to drop an accepted mail.
 */
const RESERVED_HEADER =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|return-path|message-id|dkim-signature|mime-version|content-.*|received|resent-.*|x-(?:smtpapi|msys-api|(?:ses|mailgun|pm|mc|mj|mailin|sib)-.*))$/i
const HEADER_NAME = /^[!-9;-~]{1,126}$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;[\x20-\x7e]*)?$/
// oxlint-disable-next-line no-control-regex -- the point is to refuse them
const LINE_BREAK = /[\r\n\u0000]/

const NO_RECIPIENT = "names no recipient"
export const ONLY_COPIES =
  "names no recipient, and neither cc nor bcc can stand alone: put one of them into to, or an address of your own"

const many = (value: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  value === undefined ? [] : typeof value === "string" ? [value] : value

/** Parses the addresses of a field, as many as a mail may have (one with more is refused); what is not one becomes an issue. */
const mailboxesOf = (
  issues: Array<FieldIssue>,
  field: string,
  value: string | ReadonlyArray<string> | undefined
): ReadonlyArray<Mailbox> =>
  many(value)
    .slice(0, MAX_RECIPIENTS)
    .flatMap((text, index) => {
      const parsed = parseMailbox(text)
      if (Result.isSuccess(parsed)) return [parsed.success]
      issues.push({ path: typeof value === "string" ? field : `${field}.${index}`, message: parsed.failure })
      return []
    })

const recipientIssues = ({ bcc, cc, replyTo, to }: SendRequest): ReadonlyArray<FieldIssue> => {
  const issues: Array<FieldIssue> = []
  const copies = many(cc).length + many(bcc).length
  if (many(to).length === 0) issues.push({ path: "to", message: copies > 0 ? ONLY_COPIES : NO_RECIPIENT })
  if (many(to).length + copies > MAX_RECIPIENTS)
    issues.push({ path: "to", message: `more than ${MAX_RECIPIENTS} recipients with cc and bcc` })
  if (many(replyTo).length > MAX_RECIPIENTS)
    issues.push({ path: "replyTo", message: `more than ${MAX_RECIPIENTS} addresses` })
  return issues
}

/** Receipts, sign-in links and alerts cannot be left, so that they belong to no list. */
const LISTED: ReadonlyArray<Category> = ["marketing", "notification"]

/** Most characters of a line of a mail (RFC 5322, section 2.1.1). */
const MAX_LINE = 998

/** A line is folded at blanks alone. Other characters than ASCII are encoded in short words. */
const fitsOnNoLine = (name: string, value: string): boolean =>
  /^[\x20-\x7e\t]*$/.test(value) && `${name}:${value}`.split(/[\t ]/).some((part) => part.length >= MAX_LINE)
const NO_LINE = `has a part without blanks of more than ${MAX_LINE} characters`

const textIssues = (request: SendRequest): ReadonlyArray<FieldIssue> => {
  const issues: Array<FieldIssue> = []
  const oneLine = (path: "subject" | "source" | "idempotencyKey") => {
    const text = request[path]
    if (text !== undefined && LINE_BREAK.test(text))
      issues.push({ path, message: "holds a line break or NUL" })
  }
  if (request.subject.trim() === "") issues.push({ path: "subject", message: "is empty" })
  oneLine("subject")
  if (fitsOnNoLine("Subject", request.subject)) issues.push({ path: "subject", message: NO_LINE })
  oneLine("source")
  if (request.html === undefined && request.text === undefined)
    issues.push({ path: "html", message: "one of html and text is required" })
  oneLine("idempotencyKey")
  // Hashed and stored, all such halves are one: two keys would be one key, and the second mail the first one's repeat.
  if (request.idempotencyKey?.isWellFormed() === false)
    issues.push({ path: "idempotencyKey", message: "holds half of a character" })
  if (request.list !== undefined && !LISTED.includes(request.category))
    issues.push({ path: "list", message: `is of the categories ${LISTED.join(" and ")} alone` })
  return issues
}

const headerIssues = (headers: Readonly<Record<string, string>>): ReadonlyArray<FieldIssue> => {
  const issues: Array<FieldIssue> = []
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name}`
    if (!HEADER_NAME.test(name)) issues.push({ path, message: "is not a header name" })
    else if (RESERVED_HEADER.test(name))
      issues.push({ path, message: "has a field of its own or steers delivery" })
    else if (seen.has(name.toLowerCase())) issues.push({ path, message: "is there twice, in different case" })
    if (LINE_BREAK.test(value)) issues.push({ path, message: "holds a line break or NUL" })
    if (fitsOnNoLine(name, value)) issues.push({ path, message: NO_LINE })
    seen.add(name.toLowerCase())
  }
  return issues
}

/** Whether a request may have this header (MAIL-11). */
export const isCustomHeader = (name: string, value: string): boolean =>
  headerIssues({ [name]: value }).length === 0

/** Base64 as most tools write it, in lines, without the line breaks. */
const unfolded = (content: string): string =>
  /\s/.test(content) ? content.replaceAll(/[\t\n\r ]+/g, "") : content

const isBase64 = (content: string): boolean => content.length % 4 === 0 && BASE64.test(content)

const attachmentIssues = (
  { content, contentId, contentType, filename }: typeof AttachmentBody.Type,
  index: number
): ReadonlyArray<FieldIssue> => {
  const path = `attachments.${index}`
  const issues: Array<FieldIssue> = []
  if (!isBase64(unfolded(content))) issues.push({ path: `${path}.content`, message: "is not base64" })
  if (LINE_BREAK.test(filename))
    issues.push({ path: `${path}.filename`, message: "holds a line break or NUL" })
  if (contentType !== undefined && !MEDIA_TYPE.test(contentType))
    issues.push({ path: `${path}.contentType`, message: "is not a media type" })
  if (contentId !== undefined && !/^[\x21-\x7e]+$/.test(contentId))
    issues.push({ path: `${path}.contentId`, message: "is not printable ASCII without spaces" })
  return issues
}

const attachmentOf = ({
  content,
  contentId,
  contentType,
  filename
}: typeof AttachmentBody.Type): Attachment => ({
  filename,
  contentType,
  content: unfolded(content),
  contentId: contentId?.replace(/^<(.*)>$/, "$1")
})

const tagIssues = (name: string, value: string): ReadonlyArray<FieldIssue> =>
  tagFaults(name, value).map((message) => ({ path: `tags.${name}`, message }))

/** Makes a message of a request: addresses parsed, headers and tags checked, From rewritten (MAIL-10 to MAIL-13). */
export const makeMessage = (
  request: SendRequest,
  defaults: MessageDefaults
): Result.Result<Message, ReadonlyArray<FieldIssue>> => {
  const { attachments = [], headers = {}, tags = {} } = request
  const issues: Array<FieldIssue> = []
  // Of an address that is there twice the visible place counts.
  const once = onceEach()
  const to = once(mailboxesOf(issues, "to", request.to))
  const cc = once(mailboxesOf(issues, "cc", request.cc))
  const bcc = once(mailboxesOf(issues, "bcc", request.bcc))
  const replyTo = mailboxesOf(issues, "replyTo", request.replyTo)
  append(issues, recipientIssues(request))
  const [sender] = request.from === undefined ? [defaults.from] : mailboxesOf(issues, "from", request.from)
  append(issues, textIssues(request))
  append(issues, headerIssues(headers))
  append(
    issues,
    Object.entries(tags).flatMap(([name, value]) => tagIssues(name, value))
  )
  append(issues, attachments.flatMap(attachmentIssues))
  const expiresAt = request.expiresAt === undefined ? undefined : Date.parse(request.expiresAt)
  if (Number.isNaN(expiresAt)) issues.push({ path: "expiresAt", message: "is no date in ISO 8601" })
  if (issues.length > 0 || sender === undefined) return Result.fail(issues)
  return Result.succeed({
    from: rewriteSender(sender, defaults.domains),
    to,
    cc,
    bcc,
    replyTo,
    subject: request.subject,
    html: request.html,
    text: request.text,
    category: request.category,
    list: request.list,
    source: request.source,
    provider: request.provider,
    configurationSet: request.configurationSet,
    tags,
    headers,
    attachments: attachments.map(attachmentOf),
    expiresAt
  })
}

/** The keys of all recipients, To first, each once, for the suppression look-up. */
export const recipientKeys = (message: Pick<Message, "to" | "cc" | "bcc">): ReadonlyArray<string> => [
  ...new Set([...message.to, ...message.cc, ...message.bcc].map(addressKey))
]

/** The message without the blocked recipients; `undefined` where no To recipient is left (MAIL-62). */
export const withoutBlocked = (
  message: Message,
  blocked: ReadonlySet<string> | ReadonlyMap<string, unknown>
): Message | undefined => {
  if (blocked.size === 0) return message
  const keep = (boxes: ReadonlyArray<Mailbox>) => boxes.filter((box) => !blocked.has(addressKey(box)))
  const to = keep(message.to)
  return to.length === 0 ? undefined : { ...message, to, cc: keep(message.cc), bcc: keep(message.bcc) }
}

/**
 * The payload that an idempotency key is bound to, as canonical JSON: equal for equal requests, whatever their key order.
 * `expiresAt` is left out: a request that is repeated a minute later is the same mail.
 */
export const payloadOf = (message: Message): string =>
  JSON.stringify([
    message.from,
    message.to,
    message.cc,
    message.bcc,
    message.replyTo,
    message.subject,
    message.html ?? null,
    message.text ?? null,
    message.category,
    message.source,
    message.provider ?? null,
    message.configurationSet ?? null,
    sorted(message.tags),
    sorted(message.headers),
    message.attachments.map((part) => [
      part.filename,
      part.contentType ?? null,
      part.content,
      part.contentId ?? null
    ]),
    // Last, and only where there is one: the payloads of earlier versions stay what they were.
    ...(message.list === undefined ? [] : [message.list])
  ])

const sorted = (record: Readonly<Record<string, string>>): ReadonlyArray<readonly [string, string]> =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
