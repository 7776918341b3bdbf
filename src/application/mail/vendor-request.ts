import { addressKey, addressOf } from "../../domain/mail/address.ts"
import { type ProviderRequest, type SendDetails, tagOf } from "../../domain/mail/deferred-send.ts"
import { type Message, recipientKeys } from "../../domain/mail/message.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { BlockReason } from "../../domain/mail/suppression/policy.ts"
import type { Sending, SendParts } from "./sending.ts"

/** What the rows of a send have in common; `mailed` is the message without the suppressed recipients. */
export const detailsOf = (
  message: Message,
  mailed: Message,
  blocked: ReadonlyMap<string, BlockReason>,
  key: Pick<SendDetails, "idempotencyKey" | "keyHash" | "keyTag" | "traceparent">
): SendDetails => ({
  category: message.category,
  ...(message.list === undefined ? {} : { list: message.list }),
  source: message.source,
  from: addressOf(message.from),
  to: mailed.to.map(addressKey),
  others: [...mailed.cc, ...mailed.bcc].map(addressKey),
  dropped: recipientKeys(message).filter((address) => blocked.has(address)),
  subject: message.subject,
  ...(Object.keys(message.tags).length === 0 ? {} : { tags: message.tags }),
  ...key
})

/** The vendor's request, byte-identical for the same message and key; `undefined` where the provider is not configured. */
export const requestFor = (
  { providers }: SendParts,
  { details, firstAttemptAt, message }: Sending,
  provider: Provider
): ProviderRequest | undefined =>
  providers.get(provider)?.prepare(message, {
    key: details.idempotencyKey,
    keyHash: details.keyHash,
    tag: tagOf(details),
    firstAttemptAt
  })
