import { Result } from "effect"

import type { SendRequest } from "../../domain/mail/message.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"
import { nearestName, unknownName } from "../../domain/nearest-name.ts"
import { headersOf, namedHeaders } from "./nodemailer-headers.ts"
import { type GivenMessage, refusalsOf } from "./nodemailer-options.ts"
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
  /** The request's `list`: nodemailer's own member of that name makes headers. */
  readonly mailingList?: string | undefined
  readonly source?: string | undefined
  readonly expiresAt?: string | undefined
}

/** The part of nodemailer's `MailMessage` that a transport needs. */
interface MailMessage {
  readonly data: GivenMessage
  readonly message: {
    getAddresses(): { readonly from?: ReadonlyArray<object> | undefined }
    getHeader(name: string): unknown
  }
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
  /** Nodemailer's code: the message is refused, or no provider took it. */
  readonly code: "EMESSAGE" | "ESEND"
  readonly result: SendResult | undefined
  constructor(message: string, result?: SendResult) {
    super(message)
    this.result = result
    const refused = result === undefined || result.status !== "failed" || result.kind === "rejected"
    this.code = refused ? "EMESSAGE" : "ESEND"
  }
}

/** Why `verify` rejects. */
class PostlaneVerifyError extends Error {
  override readonly name = "PostlaneVerifyError"
  readonly code = "EVERIFY"
}

/** What a message may name beyond nodemailer's members. */
const OWN = ["idempotencyKey", "category", "mailingList", "source", "expiresAt"]

/** Refuses what would be left out of the mail: one of our own members under another name. Other names may be a plugin's. */
const refuseMisspelt = (data: object): void => {
  for (const name of Object.keys(data)) {
    const isGiven = (Reflect.get(data, name) ?? undefined) !== undefined
    const nearest = OWN.includes(name) || !isGiven ? undefined : nearestName(name, OWN)
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

/** The option as text; an empty one counts as absent, as in nodemailer. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value
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

/** The value, or the reason as an error of a message. */
const orRefuse = <A>(result: Result.Result<A, string>): A => {
  if (Result.isFailure(result)) throw new PostlaneSendError(result.failure)
  return result.success
}

const requestOf = (mail: Normalized, otpToken: unknown, options: DropInOptions): SendRequest => ({
  to: mailboxes(mail.to) ?? [],
  cc: mailboxes(mail.cc),
  bcc: mailboxes(mail.bcc),
  from: mailboxes(mail.from)?.[0],
  replyTo: mailboxes(mail.replyTo),
  subject: mail.subject ?? "",
  html: textOf(mail.html),
  text: textOf(mail.text),
  headers: orRefuse(headersOf({ ...mail, otpToken })),
  attachments: mail.attachments?.map(({ cid, content, contentType, encoding, filename }, at) => ({
    filename: filename === undefined || filename === false ? `attachment-${at + 1}` : filename,
    contentType,
    contentId: cid,
    content: base64Of(content, encoding)
  })),
  category: mail.category ?? options.category ?? "transactional",
  list: mail.mailingList,
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
  const { data, message } = mail
  const refused = refusalsOf(data)
  if (refused.length > 0) throw new PostlaneSendError(refused.join("; "))
  if ((message.getAddresses().from?.length ?? 0) > 1)
    throw new PostlaneSendError("a mail has one from here: name the others in replyTo")
  refuseMisspelt(data)
  data.headers = orRefuse(namedHeaders(Object(data.headers ?? {}) as object))
  const resolved = await normalized(mail)
  refuseGroups(resolved)
  const request = requestOf(resolved, message.getHeader("OTP-Token"), options)
  const result = await send(request, { env: options.env, retry: options.retry })
  if (!result.ok) throw new PostlaneSendError(result.error, result)
  return infoOf(result, resolved)
}

/** A transport for `nodemailer.createTransport`. */
export interface PostlaneTransport {
  readonly name: string
  readonly version: string
  send(mail: MailMessage, callback: (error: Error | null, info: PostlaneInfo) => void): void
  /** Asks the send log and the provider, without sending; rejects with what does not work, or cannot be known. */
  verify(): Promise<true>
  verify(callback: (error: Error | null, success: true) => void): void
}

const OPTIONS = ["category", "source", "env", "retry", "send"]

/** Makes the transport on a function that sends, and on one that asks whether it can; throws on an option that is not known. */
export const makeTransport = (
  { verify, send }: { readonly send: Send; readonly verify: () => Promise<ReadonlyArray<string>> },
  options: DropInOptions
): PostlaneTransport => {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined) throw new Error(`${unknown} ${unknownName(unknown, OPTIONS)}`)
  const verified = async (): Promise<true> => {
    const faults = await verify()
    if (faults.length > 0) throw new PostlaneVerifyError(faults.join("; "))
    return true
  }
  // Called outside of the promise: what the callback throws is the caller's, not a failure of the call.
  const settle = <A>(promise: Promise<A>, callback: (error: Error | null, value: A) => void) =>
    promise.then(
      (value) => setImmediate(callback, null, value),
      (error: unknown) => setImmediate(() => void Reflect.apply(callback, undefined, [error]))
    )
  function verifyNow(): Promise<true>
  function verifyNow(callback: (error: Error | null, success: true) => void): void
  function verifyNow(callback?: (error: Error | null, success: true) => void) {
    return callback === undefined ? verified() : void settle(verified(), callback)
  }
  return {
    name: "Postlane",
    version: "1",
    send: (mail, callback) => void settle(deliver(mail, send, options), callback),
    verify: verifyNow
  }
}
