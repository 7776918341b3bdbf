import { Option, Schema } from "effect"
import type { CreateEmailOptions } from "resend"

import type { SendKey } from "../../domain/ids.ts"
import { byName } from "../../domain/lists.ts"
import { formatMailbox, formattedKey } from "../../domain/mail/address.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { Message } from "../../domain/mail/message.ts"
import { allowedRecipients } from "../../domain/mail/recipients.ts"
import { encodeTag, KEY_TAG } from "../../domain/mail/tag.ts"

const Addresses = Schema.Array(Schema.String)

/** The queued body: the SDK's own payload, attachments as base64. */
const ResendBody = Schema.Struct({
  from: Schema.String,
  to: Addresses,
  cc: Schema.optionalKey(Addresses),
  bcc: Schema.optionalKey(Addresses),
  replyTo: Schema.optionalKey(Addresses),
  subject: Schema.String,
  html: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  tags: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))),
  attachments: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        filename: Schema.String,
        content: Schema.String,
        contentType: Schema.optionalKey(Schema.String),
        contentId: Schema.optionalKey(Schema.String)
      })
    )
  )
})
type ResendBody = typeof ResendBody.Type

/** Reads a queued body. */
export const decodeBody = Schema.decodeUnknownOption(ResendBody)

const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Whether a key can be the value of the `Idempotency-Key` header unencoded. */
export const isHeaderValue = (key: string): boolean => HEADER_VALUE.test(key)

const formatAll = (boxes: Message["to"]): ReadonlyArray<string> => boxes.map(formatMailbox)

/**
 * Makes the request. Headers and tags are sorted, so that calls that are equal by the idempotency rules make equal bytes: the
 * vendor refuses a known key with a payload that differs.
 */
export const prepareRequest = (message: Message, { key, keyHash, tag }: SendKey): ProviderRequest => {
  const headers = Object.entries(message.headers).sort(byName)
  const tags = [
    ...Object.entries(message.tags)
      .sort(byName)
      .map(([name, value]) => ({ name: encodeTag(name), value: encodeTag(value) })),
    ...(tag === undefined ? [] : [{ name: KEY_TAG, value: tag }])
  ]
  const body = {
    from: formatMailbox(message.from),
    to: formatAll(message.to),
    ...(message.cc.length === 0 ? {} : { cc: formatAll(message.cc) }),
    ...(message.bcc.length === 0 ? {} : { bcc: formatAll(message.bcc) }),
    ...(message.replyTo.length === 0 ? {} : { replyTo: formatAll(message.replyTo) }),
    subject: message.subject,
    ...(message.html === undefined ? {} : { html: message.html }),
    ...(message.text === undefined ? {} : { text: message.text }),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(message.attachments.length === 0
      ? {}
      : {
          attachments: message.attachments.map((part) => ({
            filename: part.filename,
            content: part.content,
            ...(part.contentType === undefined ? {} : { contentType: part.contentType }),
            ...(part.contentId === undefined ? {} : { contentId: part.contentId })
          }))
        })
  } satisfies ResendBody
  return { provider: "provider_a", key: isHeaderValue(key) ? key : `postlane-${keyHash}`, body }
}

/** Drops blocked recipients; see the port. An unreadable body is returned unchanged: `send` refuses it. */
export const dropRecipients = (
  request: ProviderRequest,
  blocked: ReadonlySet<string>
): ProviderRequest | undefined => {
  const body = Option.getOrUndefined(decodeBody(request.body))
  if (body === undefined) return request
  const { to: all, cc: copied = [], bcc: blind = [], ...rest } = body
  const allowed = allowedRecipients({ to: all, cc: copied, bcc: blind }, (one) =>
    blocked.has(formattedKey(one))
  )
  if (allowed === undefined) return undefined
  if (allowed === "unchanged") return request
  const { bcc, cc, to } = allowed
  return {
    ...request,
    body: { ...rest, to, ...(cc.length === 0 ? {} : { cc }), ...(bcc.length === 0 ? {} : { bcc }) }
  }
}

/**
 * The SDK's argument. Headers are sorted again: a queue may have kept the body as JSON in another order, and the
 * bytes of a retry must not depend on it (the SDK itself fixes the order of every other field).
 */
export const payloadOf = (body: ResendBody): CreateEmailOptions => {
  const { html, text, headers, to, cc, bcc, replyTo, attachments, tags, from, subject } = body
  const common = {
    from,
    to: [...to],
    ...(cc === undefined ? {} : { cc: [...cc] }),
    ...(bcc === undefined ? {} : { bcc: [...bcc] }),
    ...(replyTo === undefined ? {} : { replyTo: [...replyTo] }),
    subject,
    ...(headers === undefined ? {} : { headers: Object.fromEntries(Object.entries(headers).sort(byName)) }),
    ...(tags === undefined ? {} : { tags: tags.map(({ name, value }) => ({ name, value })) }),
    ...(attachments === undefined ? {} : { attachments: [...attachments] })
  }
  return html === undefined
    ? { ...common, text: text ?? "" }
    : { ...common, html, ...(text === undefined ? {} : { text }) }
}
