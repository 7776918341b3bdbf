import type { SendRequest } from "../../domain/mail/message.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"
import { nearestName } from "../../domain/nearest-name.ts"
import type { DropInOptions, Send } from "./send.ts"

/** An address as nodemailer hands it to its transports. */
interface Address {
  readonly name?: string | undefined
  readonly address?: string | undefined
}

/** A group of addresses: `Team: a@x.test, b@x.test;`. */
interface Group {
  readonly group: ReadonlyArray<Address>
}

type Addresses = Address | ReadonlyArray<Address> | null | undefined

/** A message that nodemailer has resolved: files read, streams drained, addresses parsed. */
interface Normalized {
  readonly from?: Addresses
  readonly to?: Addresses
  readonly cc?: Addresses
  readonly bcc?: Addresses
  readonly replyTo?: Addresses
  readonly subject?: string | undefined
  readonly html?: unknown
  readonly text?: unknown
  readonly priority?: string | null | undefined
  readonly xMailer?: unknown
  readonly normalizedHeaders?: Readonly<Record<string, unknown>> | undefined
  readonly attachments?: ReadonlyArray<{
    readonly filename?: string | false | undefined
    readonly content?: unknown
    readonly encoding?: string | undefined
    readonly contentType?: string | undefined
    readonly cid?: string | undefined
  }>
  readonly envelope?: { readonly from: string | false; readonly to: ReadonlyArray<string> } | undefined
  readonly idempotencyKey?: string | undefined
  readonly category?: Category | undefined
  readonly source?: string | undefined
  readonly expiresAt?: string | undefined
}

/** The part of nodemailer's `MailMessage` that a transport needs. */
interface MailMessage {
  readonly data: { headers?: object; readonly attachments?: ReadonlyArray<object> | null }
  normalize(callback: (error: Error | null, data?: unknown) => void): void
}

/** What `sendMail` resolves to. */
export interface PostlaneInfo {
  readonly envelope: { readonly from: string | false; readonly to: ReadonlyArray<string> }
  /** The provider's id where there is one yet, else the id in the send log. */
  readonly messageId: string
  readonly accepted: ReadonlyArray<string>
  /** Recipients that were left out because they are suppressed. */
  readonly rejected: ReadonlyArray<string>
  readonly response: string
  readonly result: SendResult
}

/** Why `sendMail` rejects. */
export class PostlaneSendError extends Error {
  override readonly name = "PostlaneSendError"
  /** As nodemailer's own: the message is refused, or nobody took it. */
  readonly code: "EMESSAGE" | "ESEND"
  readonly result: SendResult | undefined
  constructor(message: string, result?: SendResult) {
    super(message)
    this.result = result
    const refused = result === undefined || result.status !== "failed" || result.kind === "rejected"
    this.code = refused ? "EMESSAGE" : "ESEND"
  }
}

/** Parts of a message that neither provider takes: refused, since leaving them out would send another mail than was meant. */
const REFUSED = [
  "raw",
  "alternatives",
  "icalEvent",
  "amp",
  "watchHtml",
  "dkim",
  "envelope",
  "sender",
  "dsn"
] as const

/** What a message may name beyond nodemailer's members. */
const OWN = ["idempotencyKey", "category", "source", "expiresAt"]

const isGiven = (part: object, name: string): boolean => (Reflect.get(part, name) ?? undefined) !== undefined

/** Refuses what would be left out of the mail: one of our own members under another name. Other names may be a plugin's. */
const refuseMisspelt = (data: object): void => {
  for (const name of Object.keys(data)) {
    const nearest = OWN.includes(name) || !isGiven(data, name) ? undefined : nearestName(name, OWN)
    if (nearest !== undefined)
      throw new PostlaneSendError(`${name} is not known here; did you mean ${nearest}?`)
  }
}

/** Refuses groups: a provider's request has addresses alone. */
const refuseGroups = (mail: Normalized): void => {
  for (const field of ["from", "to", "cc", "bcc", "replyTo"] as const) {
    const isGroup = (one: Address | Group) => "group" in one
    if (listOf(mail[field]).some(isGroup))
      throw new PostlaneSendError(`Postlane sends to no groups: name each address of ${field}`)
  }
}

/** Headers that providers write themselves, or for which the request has a field. */
const OWN_HEADERS = new Set(["message-id", "date"])

const listOf = (addresses: Addresses): ReadonlyArray<Address> =>
  addresses === null || addresses === undefined
    ? []
    : Array.isArray(addresses)
      ? (addresses as ReadonlyArray<Address>)
      : [addresses as Address]

const quoted = (name: string) => `"${name.replaceAll(/[\\"]/g, String.raw`\$&`)}"`

const mailbox = ({ address = "", name = "" }: Address) =>
  name === "" ? address : `${quoted(name)} <${address}>`

const mailboxes = (addresses: Addresses): Array<string> | undefined => {
  const all = listOf(addresses).map(mailbox)
  return all.length === 0 ? undefined : all
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : undefined
}

const base64Of = (content: unknown, encoding: string | undefined): string => {
  if (content instanceof Uint8Array) return Buffer.from(content).toString("base64")
  const text = typeof content === "string" ? content : ""
  return Buffer.from(
    text,
    Buffer.isEncoding(encoding ?? "") ? (encoding as BufferEncoding) : "utf8"
  ).toString("base64")
}

/** What nodemailer's `priority` stands for, in the headers that it writes itself into mails that it composes. */
const PRIORITY: ReadonlyMap<string, Record<string, string>> = new Map([
  ["high", { "X-Priority": "1 (Highest)", "X-MSMail-Priority": "High", Importance: "High" }],
  ["low", { "X-Priority": "5 (Lowest)", "X-MSMail-Priority": "Low", Importance: "Low" }]
])

/** Headers as nodemailer takes them, an object or a list of pairs, by their names: `normalize` would name those of a list 0, 1, 2. */
const namedHeaders = (headers: object): Record<string, unknown> => {
  const pairs = Object.entries(headers).flatMap(([name, given]: [string, unknown]) => {
    const pair = Array.isArray(headers)
      ? (given as { readonly key: string; readonly value: unknown })
      : undefined
    return [pair?.value ?? given]
      .flat()
      .map((value: unknown): [string, unknown] => [pair?.key ?? name, value])
  })
  const names = pairs.map(([name]) => name.toLowerCase())
  const twice = pairs.find(([name], at) => names.indexOf(name.toLowerCase()) < at)
  if (twice !== undefined) throw new PostlaneSendError(`Postlane sends one value of a header: ${twice[0]}`)
  return Object.fromEntries(pairs)
}

const headersOf = ({ normalizedHeaders, priority, xMailer }: Normalized): Record<string, string> => {
  const all: Readonly<Record<string, unknown>> = {
    ...PRIORITY.get(priority?.toLowerCase() ?? "normal"),
    "X-Mailer": xMailer,
    ...normalizedHeaders
  }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      OWN_HEADERS.has(name.toLowerCase()) || !["number", "string"].includes(typeof value)
        ? []
        : [[name, String(value)]]
    )
  )
}

const requestOf = (mail: Normalized, options: DropInOptions): SendRequest => ({
  to: mailboxes(mail.to) ?? [],
  cc: mailboxes(mail.cc),
  bcc: mailboxes(mail.bcc),
  from: mailboxes(mail.from)?.[0],
  replyTo: mailboxes(mail.replyTo),
  subject: mail.subject ?? "",
  html: textOf(mail.html),
  text: textOf(mail.text),
  headers: headersOf(mail),
  attachments: mail.attachments?.map(({ cid, content, contentType, encoding, filename }, at) => ({
    filename: filename === undefined || filename === false ? `attachment-${at + 1}` : filename,
    contentType,
    contentId: cid,
    content: base64Of(content, encoding)
  })),
  category: mail.category ?? options.category ?? "transactional",
  source: mail.source ?? options.source ?? "nodemailer",
  idempotencyKey: mail.idempotencyKey,
  expiresAt: mail.expiresAt
})

const infoOf = (result: SendResult, { envelope = { from: false, to: [] } }: Normalized): PostlaneInfo => {
  const rejected = result.suppressedRecipients
  return {
    envelope,
    messageId: result.providerMessageId ?? result.sendId,
    accepted: envelope.to.filter((address) => !rejected.includes(address.toLowerCase())),
    rejected,
    response: result.status,
    result
  }
}

const normalized = (mail: MailMessage): Promise<Normalized> =>
  new Promise((resolve, reject) => {
    mail.normalize((error, data) => (error === null ? resolve(data as Normalized) : reject(error)))
  })

const deliver = async (mail: MailMessage, send: Send, options: DropInOptions): Promise<PostlaneInfo> => {
  const { attachments, headers = {} } = mail.data
  const refused = REFUSED.filter((name) => isGiven(mail.data, name))
  if (refused.length > 0) throw new PostlaneSendError(`Postlane sends no ${refused.join(", ")}`)
  for (const part of ["raw", "headers"]) {
    if (attachments?.some((attachment) => isGiven(attachment, part)))
      throw new PostlaneSendError(`Postlane sends no ${part} of attachments`)
  }
  refuseMisspelt(mail.data)
  mail.data.headers = namedHeaders(headers)
  const data = await normalized(mail)
  refuseGroups(data)
  const result = await send(requestOf(data, options), { env: options.env })
  if (!result.ok) throw new PostlaneSendError(result.error, result)
  return infoOf(result, data)
}

/** A transport for `nodemailer.createTransport`. */
export interface PostlaneTransport {
  readonly name: string
  readonly version: string
  send(mail: MailMessage, callback: (error: Error | null, info: PostlaneInfo) => void): void
  verify(): Promise<true>
}

/** Makes the transport on a function that sends. */
export const makeTransport = (send: Send, options: DropInOptions): PostlaneTransport => ({
  name: "Postlane",
  version: "1",
  send: (mail, callback) => {
    // Called outside of the promise: what the callback throws is the caller's, not a failure of the send.
    deliver(mail, send, options).then(
      (info) => setImmediate(callback, null, info),
      (error: unknown) => setImmediate(() => void Reflect.apply(callback, undefined, [error]))
    )
  },
  verify: () => Promise.resolve(true)
})
