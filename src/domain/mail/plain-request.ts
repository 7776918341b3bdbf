import { Result, Schema } from "effect"

import type { SendKey } from "../ids.ts"
import { byName } from "../lists.ts"
import { addressOf, type Mailbox } from "./address.ts"
import type { ProviderRequest } from "./deferred-send.ts"
import type { Message } from "./message.ts"
import type { Provider } from "./provider.ts"
import { allowedRecipients } from "./recipients.ts"
import { KEY_TAG } from "./tag.ts"

const PlainMailbox = Schema.Struct({ name: Schema.NullOr(Schema.String), address: Schema.String })
type PlainMailbox = typeof PlainMailbox.Type

/** A message as plain JSON, in no vendor's shape: the request body of providers without a wire format. */
export const PlainRequestBody = Schema.Struct({
  from: PlainMailbox,
  to: Schema.Array(PlainMailbox),
  cc: Schema.Array(PlainMailbox),
  bcc: Schema.Array(PlainMailbox),
  replyTo: Schema.Array(PlainMailbox),
  subject: Schema.String,
  html: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  configurationSet: Schema.NullOr(Schema.String),
  /** As the sender wrote them, and the tag of the key. */
  tags: Schema.Record(Schema.String, Schema.String),
  headers: Schema.Record(Schema.String, Schema.String),
  attachments: Schema.Array(
    Schema.Struct({
      filename: Schema.String,
      contentType: Schema.NullOr(Schema.String),
      /** Base64. */
      content: Schema.String,
      contentId: Schema.NullOr(Schema.String)
    })
  )
})
export type PlainRequestBody = typeof PlainRequestBody.Type

const decodeBody = Schema.decodeUnknownResult(PlainRequestBody)

const plain = (box: Mailbox): PlainMailbox => ({ name: box.name ?? null, address: addressOf(box) })

/** The order of tags and headers is not part of a message. */
const sorted = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(record).sort(byName))

/** The message as a request; the same message and key give the same bytes. */
export const preparePlain = (provider: Provider, message: Message, key: SendKey): ProviderRequest => {
  const body: PlainRequestBody = {
    from: plain(message.from),
    to: message.to.map(plain),
    cc: message.cc.map(plain),
    bcc: message.bcc.map(plain),
    replyTo: message.replyTo.map(plain),
    subject: message.subject,
    html: message.html ?? null,
    text: message.text ?? null,
    configurationSet: message.configurationSet ?? null,
    tags: sorted(key.tag === undefined ? message.tags : { ...message.tags, [KEY_TAG]: key.tag }),
    headers: sorted(message.headers),
    attachments: message.attachments.map((part) => ({
      filename: part.filename,
      contentType: part.contentType ?? null,
      content: part.content,
      contentId: part.contentId ?? null
    }))
  }
  return { provider, key: key.key, body }
}

/** The body of a prepared request; fails where it is not one. */
export const plainBodyOf = (request: ProviderRequest): Result.Result<PlainRequestBody, string> =>
  Result.mapError(decodeBody(request.body), () => "the request is not one that this provider prepared")

/** The body as text: the same whatever the order of its members, which a queue may have changed. */
export const canonicalBody = (request: ProviderRequest): string =>
  JSON.stringify(request.body, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  )

/** Bare lower-case address, as suppressions are compared. */
export const plainKey = (box: PlainMailbox): string => box.address.normalize("NFC").toLowerCase()

/** The request without these recipients; `undefined` where no To recipient is left, the same request where none is in it. */
export const withoutPlainRecipients = (
  request: ProviderRequest,
  blocked: ReadonlySet<string>
): ProviderRequest | undefined => {
  const decoded = plainBodyOf(request)
  if (Result.isFailure(decoded)) return request
  const body = decoded.success
  const allowed = allowedRecipients(body, (box) => blocked.has(plainKey(box)))
  if (allowed === undefined) return undefined
  return allowed === "unchanged" ? request : { ...request, body: { ...body, ...allowed } }
}
