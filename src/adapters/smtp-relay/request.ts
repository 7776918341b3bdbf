import { Option, Schema } from "effect"

import type { SendKey } from "../../domain/ids.ts"
import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { Message } from "../../domain/mail/message.ts"
import { PlainRequestBody, preparePlain, withoutPlainRecipients } from "../../domain/mail/plain-request.ts"
import {
  RETURN_HEADER,
  type ReturnAddress,
  returnMessageId,
  returnPath,
  returnToken
} from "../../domain/mail/return-address.ts"
import { composeMessage } from "../mime/compose-message.ts"
import type { Envelope } from "./session.ts"

/**
 * The queued body: the mail, and all that its bytes would otherwise owe to chance and clock, so that every attempt composes the same
 * bytes. Composed they would be a third larger, and a suppressed recipient could not be taken out.
 */
const RelayBody = Schema.Struct({
  mail: PlainRequestBody,
  /** Without its angle brackets. */
  messageId: Schema.String,
  /** Milliseconds since the epoch. */
  date: Schema.Finite,
  /** Envelope sender where reports come back, and the token in it. */
  returns: Schema.optionalKey(Schema.Struct({ path: Schema.String, token: Schema.String }))
})

const decodeBody = Schema.decodeUnknownOption(RelayBody)

/** Longest part of the key's hash that a Message-ID takes. */
const HASH_LENGTH = 32

/** What a body has besides the mail. Without a tag there is no row that a report could be about. */
const identityOf = (message: Message, key: SendKey, returns: ReturnAddress | undefined) => {
  const { firstAttemptAt: date, keyHash, tag } = key
  if (returns !== undefined && tag !== undefined)
    return {
      messageId: returnMessageId(returns, tag),
      date,
      returns: { path: returnPath(returns, tag), token: returnToken(tag) }
    }
  const use = tag ?? `${keyHash.slice(0, HASH_LENGTH)}.${date.toString(36)}`
  return { messageId: `${use}@${message.from.domain}`, date }
}

/**
 * Makes the request. The Message-ID is made of the tag of the key's use; where no database gives one, of the key and the time of its
 * first attempt. It is what the mail is known by: a relay that has been asked twice can be seen to have been. With a bounce address the
 * envelope sender names the use, too (RETURN-1).
 */
export const prepareRequest =
  (returns: ReturnAddress | undefined) =>
  (message: Message, key: SendKey): ProviderRequest => {
    const { body, ...request } = preparePlain("smtp", message, key)
    return { ...request, body: { mail: body, ...identityOf(message, key, returns) } }
  }

/** Drops blocked recipients; see the port. An unreadable body is returned unchanged: `send` refuses it. */
export const dropRecipients = (
  request: ProviderRequest,
  blocked: ReadonlySet<string>
): ProviderRequest | undefined => {
  const body = Option.getOrUndefined(decodeBody(request.body))
  if (body === undefined) return request
  const whole = { ...request, body: body.mail }
  const left = withoutPlainRecipients(whole, blocked)
  if (left === undefined) return undefined
  return left === whole ? request : { ...request, body: { ...body, mail: left.body } }
}

/** A mail that is ready for the wire. */
export interface Composed extends Envelope {
  readonly messageId: string
}

/** Composes the mail of a request; `undefined` for a request of another adapter. */
export const composed = async (request: ProviderRequest): Promise<Composed | undefined> => {
  const body = Option.getOrUndefined(decodeBody(request.body))
  if (body === undefined) return undefined
  const { date, mail: kept, messageId, returns } = body
  // A queue may have kept them in another order, and the bytes of a retry must not depend on it.
  const headers = Object.fromEntries(Object.entries(kept.headers).sort(([a], [b]) => (a < b ? -1 : 1)))
  const mail = {
    ...kept,
    headers: returns === undefined ? headers : { ...headers, [RETURN_HEADER]: returns.token }
  }
  const boundary = messageId.slice(0, HASH_LENGTH).replaceAll(/[^\da-z]/g, "")
  return {
    messageId,
    from: returns?.path ?? mail.from.address,
    author: mail.from.address,
    reportsTo: returns?.token,
    to: [...mail.to, ...mail.cc, ...mail.bcc].map(({ address }) => address),
    raw: await composeMessage(mail, { messageId: `<${messageId}>`, date: new Date(date), boundary })
  }
}
