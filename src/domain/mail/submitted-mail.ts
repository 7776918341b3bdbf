import { Result } from "effect"

import type { FieldIssue } from "../field-issues.ts"
import { addressKey, formatMailbox, type Mailbox, onceEach, parseMailbox } from "./address.ts"
import { isCustomHeader } from "./message.ts"
import { defaultCategory, type SenderToken } from "./sender-token.ts"
import { Category } from "./suppression/policy.ts"

/** An address of a header, decoded. */
interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** A part of a mail that is not its text. */
interface SubmittedPart {
  readonly filename: string | undefined
  readonly mediaType: string
  /** Base64. */
  readonly content: string
  readonly contentId: string | undefined
  /** Shown with the text. */
  readonly inline: boolean
}

/** A mail that a program handed over as bytes, taken apart. */
export interface SubmittedMail {
  readonly from: NamedAddress | undefined
  readonly replyTo: ReadonlyArray<NamedAddress>
  readonly to: ReadonlyArray<NamedAddress>
  readonly cc: ReadonlyArray<NamedAddress>
  readonly subject: string
  readonly messageId: string | undefined
  readonly html: string | undefined
  readonly text: string | undefined
  /** All fields of the header, in their order. */
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly parts: ReadonlyArray<SubmittedPart>
}

/** Sender and recipients of the SMTP transaction, which may differ from the header. */
export interface Envelope {
  /** Empty for a mail that is not answered. */
  readonly from: string
  readonly to: ReadonlyArray<Mailbox>
}

/** Recipients of one request. */
export interface Recipients {
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly bcc: ReadonlyArray<Mailbox>
}

/** Fields of the header by which a program says what a request has and a mail has not. */
const CATEGORY = "x-postlane-category"
const SEND_AT = "x-postlane-send-at"
const LIST = "x-postlane-list"
const OWN_HEADER = /^x-postlane-/i

/** The subject of a mail without one: providers refuse an empty one. */
const NO_SUBJECT = "(no subject)"

/** Replaces control characters by blanks: a decoded line break would start another header. */
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ").trim()

/** A text that the database can keep. */
const storable = (text: string | undefined): string | undefined => text?.toWellFormed().replaceAll("\0", "")

const mailboxOf = ({ address, name }: NamedAddress): Mailbox | undefined => {
  const parsed = parseMailbox(address)
  if (Result.isFailure(parsed)) return undefined
  const shown = oneLine(name)
  return { ...parsed.success, name: shown === "" ? undefined : shown }
}

const mailboxes = (addresses: ReadonlyArray<NamedAddress>): ReadonlyArray<Mailbox> =>
  addresses.flatMap((one) => mailboxOf(one) ?? [])

/**
 * Splits recipients into requests with a To recipient each, since providers require one. Cc becomes To where To is empty. A mail with blind
 * recipients alone becomes one request for each recipient, so that their addresses stay hidden.
 */
const arranged = ({ bcc, cc, to }: Recipients): ReadonlyArray<Recipients> => {
  if (to.length > 0) return [{ to, cc, bcc }]
  if (cc.length > 0) return [{ to: cc, cc: [], bcc }]
  return bcc.map((one) => ({ to: [one], cc: [], bcc: [] }))
}

/**
 * Recipients of the envelope, placed in To or Cc where the header names them there, else in Bcc (FRONT-5). Recipients that only the header
 * names are dropped: a mail server that splits a mail hands over one part for each destination.
 */
export const recipientsOf = (
  { cc, to }: Pick<SubmittedMail, "to" | "cc">,
  envelope: Envelope
): ReadonlyArray<Recipients> => {
  const wanted = new Set(envelope.to.map(addressKey))
  const once = onceEach()
  const named = (addresses: ReadonlyArray<NamedAddress>) =>
    once(mailboxes(addresses).filter((one) => wanted.has(addressKey(one))))
  return arranged({ to: named(to), cc: named(cc), bcc: once(envelope.to) })
}

const all = ({ bcc, cc, to }: Recipients): ReadonlyArray<Mailbox> => [...to, ...cc, ...bcc]

/** The same where some are suppressed: a request without anybody left in To would not be sent to the rest. */
export const forTheRest = (
  requests: ReadonlyArray<Recipients>,
  isBlocked: (one: Mailbox) => boolean
): ReadonlyArray<Recipients> =>
  requests.flatMap((request) => {
    if (!request.to.every(isBlocked) || all(request).every(isBlocked)) return [request]
    const kept = (boxes: ReadonlyArray<Mailbox>) => boxes.filter((one) => !isBlocked(one))
    return arranged({ to: [], cc: kept(request.cc), bcc: kept(request.bcc) })
  })

const headerOf = ({ headers }: SubmittedMail, name: string): string | undefined =>
  headers.find((one) => one.name.toLowerCase() === name)?.value.trim() || undefined

/** The category that a mail asks for, else the token's. */
export const categoryOf = (
  mail: SubmittedMail,
  token: SenderToken
): Result.Result<Category, ReadonlyArray<FieldIssue>> => {
  const asked = headerOf(mail, CATEGORY)?.toLowerCase()
  const found = Category.literals.find((one) => one === asked)
  if (asked === undefined) return Result.succeed(defaultCategory(token))
  return found === undefined
    ? Result.fail([
        { path: "X-Postlane-Category", message: `must be one of ${Category.literals.join(", ")}` }
      ])
    : Result.succeed(found)
}

/** The mailing list that a mail names. */
export const listOf = (mail: SubmittedMail): string | undefined => headerOf(mail, LIST)

/** Header fields that a request may have. The first of several fields with the same name is kept. */
const customHeaders = ({ headers }: SubmittedMail): Readonly<Record<string, string>> => {
  const kept = new Map<string, readonly [string, string]>()
  for (const { name, value } of headers) {
    const key = name.toLowerCase()
    const text = oneLine(value)
    if (!OWN_HEADER.test(name) && !kept.has(key) && isCustomHeader(name, text)) kept.set(key, [name, text])
  }
  return Object.fromEntries(kept.values())
}

/** Longest name of an attachment in a request. */
const MAX_FILENAME = 255

const extensionOf = (mediaType: string): string => {
  const [, subtype = "bin"] = /\/(?:x-)?([a-z\d]{1,10})/.exec(mediaType) ?? []
  return subtype === "plain" ? "txt" : subtype
}

const attachmentOf = (
  { content, contentId, filename, inline, mediaType }: SubmittedPart,
  at: number,
  html: string | undefined
) => {
  const id = contentId?.trim().replace(/^<(.*)>$/, "$1")
  const isShown = id !== undefined && (inline || html?.includes(`cid:${id}`) === true)
  return {
    filename:
      oneLine(filename ?? "").slice(0, MAX_FILENAME) || `attachment-${at + 1}.${extensionOf(mediaType)}`,
    contentType: /^[\w.+-]{1,38}\/[\w.+-]{1,38}$/.test(mediaType) ? mediaType : "application/octet-stream",
    content,
    ...(isShown && /^[\x21-\x7e]{1,78}$/.test(id) ? { contentId: id } : {})
  }
}

/** The From of a mail: its header's, else the envelope's; absent for that of the settings. */
const fromOf = ({ from }: SubmittedMail, envelope: Envelope): string | undefined => {
  const mailbox = from === undefined ? undefined : mailboxOf(from)
  // One that is no address is refused with the request, by its field.
  return mailbox === undefined ? from?.address || envelope.from || undefined : formatMailbox(mailbox)
}

const texts = (boxes: ReadonlyArray<Mailbox>): ReadonlyArray<string> => boxes.map(formatMailbox)

/** The body of a request of the send queue without its key. */
export const submittedBody = (
  mail: SubmittedMail,
  recipients: Recipients,
  {
    category,
    envelope,
    token
  }: { readonly category: Category; readonly envelope: Envelope; readonly token: SenderToken }
): Readonly<Record<string, unknown>> => {
  const { bcc, cc, to } = recipients
  const sendAt = headerOf(mail, SEND_AT)
  const list = listOf(mail)
  const from = fromOf(mail, envelope)
  const html = storable(mail.html)
  // A mail of attachments alone: providers want a text.
  const text = storable(mail.text) ?? (html === undefined ? "\n" : undefined)
  return {
    to: texts(to),
    ...(cc.length === 0 ? {} : { cc: texts(cc) }),
    ...(bcc.length === 0 ? {} : { bcc: texts(bcc) }),
    ...(from === undefined ? {} : { from }),
    ...(mail.replyTo.length === 0 ? {} : { replyTo: texts(mailboxes(mail.replyTo)) }),
    subject: oneLine(mail.subject) || NO_SUBJECT,
    ...(html === undefined ? {} : { html }),
    ...(text === undefined ? {} : { text }),
    category,
    ...(list === undefined ? {} : { list }),
    source: `smtp:${token.name}`,
    headers: customHeaders(mail),
    attachments: mail.parts.map((part, at) => attachmentOf(part, at, html)),
    ...(sendAt === undefined ? {} : { sendAt })
  }
}
