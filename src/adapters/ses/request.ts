import type { SendEmailCommandInput } from "@aws-sdk/client-sesv2"
import { Option, Result, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"

import type { SendKey } from "../../domain/ids.ts"
import { byName } from "../../domain/lists.ts"
import { addressOf, formatMailbox, formattedKey, type Mailbox } from "../../domain/mail/address.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import { encodedWords, isPrintableAscii } from "../../domain/mail/encoded-words.ts"
import type { Attachment, Message } from "../../domain/mail/message.ts"
import { allowedRecipients } from "../../domain/mail/recipients.ts"
import { encodeTag, KEY_TAG } from "../../domain/mail/tag.ts"

/** The text as encoded words on one line (RFC 2047). */
export const encodeWords = (text: string): string => encodedWords(text).join(" ")

const Addresses = Schema.Array(Schema.String)
const Text = Schema.Struct({ Data: Schema.String, Charset: Schema.Literal("UTF-8") })

/** The queued body: the request as it goes over the wire, attachments as base64. */
const SesBody = Schema.Struct({
  FromEmailAddress: Schema.String,
  Destination: Schema.Struct({
    ToAddresses: Addresses,
    CcAddresses: Schema.optionalKey(Addresses),
    BccAddresses: Schema.optionalKey(Addresses)
  }),
  ReplyToAddresses: Schema.optionalKey(Addresses),
  Content: Schema.Struct({
    Simple: Schema.Struct({
      Subject: Text,
      Body: Schema.Struct({ Text: Schema.optionalKey(Text), Html: Schema.optionalKey(Text) }),
      Headers: Schema.optionalKey(Schema.Array(Schema.Struct({ Name: Schema.String, Value: Schema.String }))),
      Attachments: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            FileName: Schema.String,
            ContentType: Schema.optionalKey(Schema.String),
            ContentDisposition: Schema.Literals(["ATTACHMENT", "INLINE"]),
            ContentId: Schema.optionalKey(Schema.String),
            ContentTransferEncoding: Schema.Literal("BASE64"),
            RawContent: Schema.String
          })
        )
      )
    })
  }),
  EmailTags: Schema.optionalKey(Schema.Array(Schema.Struct({ Name: Schema.String, Value: Schema.String }))),
  ConfigurationSetName: Schema.optionalKey(Schema.String)
})
type SesBody = typeof SesBody.Type

/** Reads a queued body. */
export const decodeBody = Schema.decodeUnknownOption(SesBody)

/** Limits of the service's `Simple` content. */
const MAX_HEADERS = 15
const MAX_FILE_NAME = 255

const text = (data: string) => ({ Data: data, Charset: "UTF-8" as const })

/** The service takes addresses in ASCII only: a name beyond it travels as encoded words. */
const formatAscii = (box: Mailbox): string =>
  box.name === undefined || isPrintableAscii(box.name)
    ? formatMailbox(box)
    : `${encodeWords(box.name)} <${addressOf(box)}>`

const formatAll = (boxes: ReadonlyArray<Mailbox>): ReadonlyArray<string> => boxes.map(formatAscii)

/**
 * A file name in ASCII: encoded words, as mailers have always put them there and readers take them. What is too long for
 * the service then loses the end of its stem, never its extension.
 */
const fileName = (name: string): string => {
  if (isPrintableAscii(name)) return name
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]{1,12})?$/su.exec(name) ?? []
  const points = Array.from(stem)
  let encoded = encodeWords(name)
  while (encoded.length > MAX_FILE_NAME && points.length > 1) {
    points.pop()
    encoded = encodeWords(points.join("") + extension)
  }
  return encoded
}

const attachment = (part: Attachment) => ({
  FileName: fileName(part.filename),
  ...(part.contentType === undefined ? {} : { ContentType: part.contentType }),
  ContentDisposition: part.contentId === undefined ? ("ATTACHMENT" as const) : ("INLINE" as const),
  ...(part.contentId === undefined ? {} : { ContentId: part.contentId }),
  ContentTransferEncoding: "BASE64" as const,
  RawContent: part.content
})

/**
 * Makes the request; `configurationSet` is the default for messages that name none (absent: the identity's own). Headers and tags
 * are sorted, so that calls that are equal by the idempotency rules make equal bytes.
 */
export const prepareRequest =
  (configurationSet: string | undefined) =>
  (message: Message, { key, tag }: SendKey): ProviderRequest => {
    const set = message.configurationSet ?? configurationSet
    const headers = Object.entries(message.headers).sort(byName)
    const tags = [
      ...Object.entries(message.tags)
        .sort(byName)
        .map(([name, value]) => ({ Name: encodeTag(name), Value: encodeTag(value) })),
      ...(tag === undefined ? [] : [{ Name: KEY_TAG, Value: tag }])
    ]
    const body = {
      FromEmailAddress: formatAscii(message.from),
      Destination: {
        ToAddresses: formatAll(message.to),
        ...(message.cc.length === 0 ? {} : { CcAddresses: formatAll(message.cc) }),
        ...(message.bcc.length === 0 ? {} : { BccAddresses: formatAll(message.bcc) })
      },
      ...(message.replyTo.length === 0 ? {} : { ReplyToAddresses: formatAll(message.replyTo) }),
      Content: {
        Simple: {
          Subject: text(message.subject),
          Body: {
            ...(message.text === undefined ? {} : { Text: text(message.text) }),
            ...(message.html === undefined ? {} : { Html: text(message.html) })
          },
          ...(headers.length === 0
            ? {}
            : {
                Headers: headers.map(([name, value]) => ({
                  Name: name,
                  Value: isPrintableAscii(value) ? value : encodeWords(value)
                }))
              }),
          ...(message.attachments.length === 0 ? {} : { Attachments: message.attachments.map(attachment) })
        }
      },
      ...(tags.length === 0 ? {} : { EmailTags: tags }),
      ...(set === undefined ? {} : { ConfigurationSetName: set })
    } satisfies SesBody
    return { provider: "provider_b", key, body }
  }

/** Drops blocked recipients; see the port. An unreadable body is returned unchanged: `send` refuses it. */
export const dropRecipients = (
  request: ProviderRequest,
  blocked: ReadonlySet<string>
): ProviderRequest | undefined => {
  const body = Option.getOrUndefined(decodeBody(request.body))
  if (body === undefined) return request
  const { ToAddresses, CcAddresses = [], BccAddresses = [] } = body.Destination
  const allowed = allowedRecipients({ to: ToAddresses, cc: CcAddresses, bcc: BccAddresses }, (one) =>
    blocked.has(formattedKey(one))
  )
  if (allowed === undefined) return undefined
  if (allowed === "unchanged") return request
  const { bcc, cc, to } = allowed
  return {
    ...request,
    body: {
      ...body,
      Destination: {
        ToAddresses: to,
        ...(cc.length === 0 ? {} : { CcAddresses: cc }),
        ...(bcc.length === 0 ? {} : { BccAddresses: bcc })
      }
    }
  }
}

/** The SDK's argument, or why the service would not take this message; then no request is made. */
export const commandInput = (body: SesBody): Result.Result<SendEmailCommandInput, string> => {
  const { Destination, Content, ReplyToAddresses = [] } = body
  const { ToAddresses: to, CcAddresses: cc = [], BccAddresses: bcc = [] } = Destination
  if (![body.FromEmailAddress, ...to, ...cc, ...bcc, ...ReplyToAddresses].every(isPrintableAscii)) {
    return Result.fail("Amazon SES takes no address with a character outside ASCII before the @")
  }
  const { Subject, Body, Headers = [], Attachments = [] } = Content.Simple
  if (Headers.length > MAX_HEADERS) {
    return Result.fail(
      `Amazon SES takes at most ${MAX_HEADERS} headers of one's own, this message has ${Headers.length}`
    )
  }
  const files: Array<(typeof Attachments)[number] & { readonly bytes: Uint8Array }> = []
  for (const part of Attachments) {
    const bytes = Base64.decode(part.RawContent)
    if (Result.isFailure(bytes)) return Result.fail("an attachment is not base64")
    files.push({ ...part, bytes: bytes.success })
  }
  return Result.succeed({
    FromEmailAddress: body.FromEmailAddress,
    Destination: {
      ToAddresses: [...to],
      ...(cc.length === 0 ? {} : { CcAddresses: [...cc] }),
      ...(bcc.length === 0 ? {} : { BccAddresses: [...bcc] })
    },
    ...(ReplyToAddresses.length === 0 ? {} : { ReplyToAddresses: [...ReplyToAddresses] }),
    Content: {
      Simple: {
        Subject: { Data: Subject.Data, Charset: Subject.Charset },
        Body: {
          ...(Body.Text === undefined ? {} : { Text: { Data: Body.Text.Data, Charset: Body.Text.Charset } }),
          ...(Body.Html === undefined ? {} : { Html: { Data: Body.Html.Data, Charset: Body.Html.Charset } })
        },
        ...(Headers.length === 0 ? {} : { Headers: Headers.map(({ Name, Value }) => ({ Name, Value })) }),
        ...(files.length === 0
          ? {}
          : {
              Attachments: files.map((part) => ({
                FileName: part.FileName,
                ContentType: part.ContentType,
                ContentDisposition: part.ContentDisposition,
                ContentId: part.ContentId,
                ContentTransferEncoding: part.ContentTransferEncoding,
                RawContent: part.bytes
              }))
            })
      }
    },
    ...(body.EmailTags === undefined
      ? {}
      : { EmailTags: body.EmailTags.map(({ Name, Value }) => ({ Name, Value })) }),
    ...(body.ConfigurationSetName === undefined ? {} : { ConfigurationSetName: body.ConfigurationSetName })
  })
}
