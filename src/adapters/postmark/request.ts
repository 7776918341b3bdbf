import { Option, Schema } from "effect"

import type { SendKey } from "../../domain/ids.ts"
import { byName } from "../../domain/lists.ts"
import { formatMailbox, formattedKey } from "../../domain/mail/address.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { Message } from "../../domain/mail/message.ts"
import { allowedRecipients } from "../../domain/mail/recipients.ts"
import { encodeTag, KEY_TAG } from "../../domain/mail/tag.ts"

const Addresses = Schema.Array(Schema.String)
const Texts = Schema.Record(Schema.String, Schema.String)

/** The queued body: Postmark's payload with its addresses one by one and its headers by name, attachments as base64. */
const PostmarkBody = Schema.Struct({
  From: Schema.String,
  To: Addresses,
  Cc: Schema.optionalKey(Addresses),
  Bcc: Schema.optionalKey(Addresses),
  ReplyTo: Schema.optionalKey(Addresses),
  Subject: Schema.String,
  HtmlBody: Schema.optionalKey(Schema.String),
  TextBody: Schema.optionalKey(Schema.String),
  Headers: Schema.optionalKey(Texts),
  Metadata: Schema.optionalKey(Texts),
  Attachments: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        Name: Schema.String,
        Content: Schema.String,
        ContentType: Schema.String,
        ContentID: Schema.optionalKey(Schema.String)
      })
    )
  ),
  MessageStream: Schema.String
})
type PostmarkBody = typeof PostmarkBody.Type

/** Reads a queued body. */
export const decodeBody = Schema.decodeUnknownOption(PostmarkBody)

/** The stream of marketing mail: Postmark takes that in broadcast streams only, and each server has this one. */
export const MARKETING_STREAM = "broadcast"

/** Limits of metadata (Email API, "Metadata"). */
const MAX_FIELDS = 10
const MAX_NAME = 20
const MAX_VALUE = 80

/** Names become parts of headers. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const MARKED = encodeTag("")

const inMetadata = (text: string): string =>
  PLAIN.test(text) && !text.startsWith(MARKED) ? text : encodeTag(text)

/**
 * The tags that metadata has room for, by name, the key's before all others. The others do not travel: a mail is not refused for them,
 * and its row has all.
 */
const metadataOf = (tags: Readonly<Record<string, string>>, key: string | undefined) => {
  const own = Object.entries(tags)
    .sort(byName)
    .map(([name, value]) => [inMetadata(name), inMetadata(value)] as const)
    .filter(([name, value]) => name.length <= MAX_NAME && value.length <= MAX_VALUE)
  return [...(key === undefined ? [] : [[KEY_TAG, key] as const]), ...own].slice(0, MAX_FIELDS)
}

const formatAll = (boxes: Message["to"]): ReadonlyArray<string> => boxes.map(formatMailbox)

/** An attachment's type where the sender names none; the API asks for one. */
const ANY_TYPE = "application/octet-stream"

/**
 * Makes the request; `messageStream` is that of all mail but marketing. Headers and metadata are sorted, so that calls that are equal by
 * the idempotency rules make equal bytes.
 */
export const prepareRequest =
  (messageStream: string) =>
  (message: Message, { key, tag }: SendKey): ProviderRequest => {
    const headers = Object.entries(message.headers).sort(byName)
    const metadata = metadataOf(message.tags, tag)
    const body = {
      From: formatMailbox(message.from),
      To: formatAll(message.to),
      ...(message.cc.length === 0 ? {} : { Cc: formatAll(message.cc) }),
      ...(message.bcc.length === 0 ? {} : { Bcc: formatAll(message.bcc) }),
      ...(message.replyTo.length === 0 ? {} : { ReplyTo: formatAll(message.replyTo) }),
      Subject: message.subject,
      ...(message.html === undefined ? {} : { HtmlBody: message.html }),
      ...(message.text === undefined ? {} : { TextBody: message.text }),
      ...(headers.length === 0 ? {} : { Headers: Object.fromEntries(headers) }),
      ...(metadata.length === 0 ? {} : { Metadata: Object.fromEntries(metadata) }),
      ...(message.attachments.length === 0
        ? {}
        : {
            Attachments: message.attachments.map((part) => ({
              Name: part.filename,
              Content: part.content,
              ContentType: part.contentType ?? ANY_TYPE,
              ...(part.contentId === undefined ? {} : { ContentID: `cid:${part.contentId}` })
            }))
          }),
      MessageStream: message.category === "marketing" ? MARKETING_STREAM : messageStream
    } satisfies PostmarkBody
    return { provider: "postmark", key, body }
  }

/** All recipients, as the request has them. */
export const recipientsOf = ({ Bcc = [], Cc = [], To }: PostmarkBody): ReadonlyArray<string> => [
  ...To,
  ...Cc,
  ...Bcc
]

/** Drops blocked recipients; see the port. An unreadable body is returned unchanged: `send` refuses it. */
export const dropRecipients = (
  request: ProviderRequest,
  blocked: ReadonlySet<string>
): ProviderRequest | undefined => {
  const body = Option.getOrUndefined(decodeBody(request.body))
  if (body === undefined) return request
  const { Bcc = [], Cc = [], To, ...rest } = body
  const allowed = allowedRecipients({ to: To, cc: Cc, bcc: Bcc }, (one) => blocked.has(formattedKey(one)))
  if (allowed === undefined) return undefined
  if (allowed === "unchanged") return request
  const { bcc, cc, to } = allowed
  return {
    ...request,
    body: {
      ...rest,
      To: to,
      ...(cc.length === 0 ? {} : { Cc: cc }),
      ...(bcc.length === 0 ? {} : { Bcc: bcc })
    }
  }
}

const joined = (list: ReadonlyArray<string> | undefined): string | undefined => list?.join(", ")

/**
 * The payload, its members in one order: a queue may have kept the body as JSON in another one, and the bytes of a retry must not depend
 * on it.
 */
export const payloadOf = (body: PostmarkBody): string => {
  const {
    Attachments,
    Bcc,
    Cc,
    From,
    Headers,
    HtmlBody,
    MessageStream,
    Metadata,
    ReplyTo,
    Subject,
    TextBody,
    To
  } = body
  return JSON.stringify({
    From,
    To: joined(To),
    Cc: joined(Cc),
    Bcc: joined(Bcc),
    ReplyTo: joined(ReplyTo),
    Subject,
    HtmlBody,
    TextBody,
    Headers:
      Headers === undefined
        ? undefined
        : Object.entries(Headers)
            .sort(byName)
            .map(([Name, Value]) => ({ Name, Value })),
    Metadata: Metadata === undefined ? undefined : Object.fromEntries(Object.entries(Metadata).sort(byName)),
    Attachments: Attachments?.map(({ Content, ContentID, ContentType, Name }) => ({
      Name,
      Content,
      ContentType,
      ContentID
    })),
    MessageStream
  })
}
