import { Result } from "effect"

import { addressKey, type Mailbox, parseMailbox } from "../mail/address.ts"
import { headerValues, type IncomingMail } from "./incoming-mail.ts"
import { dkimSignatures, type DkimSignature } from "./mail-identity.ts"

/**
 * Headers that identify a mail and its recipients, at most one of each: of several, the signed one may not be the one that is
 * read.
 */
const ONCE = ["message-id", "to", "cc"] as const

/** Most signatures of one mail that are checked; real ones carry one to four. */
const MAX_SIGNATURES = 20

/** Why a mail is malformed in a way that no mail program causes; undefined for others. */
export const malformation = (mail: Pick<IncomingMail, "headers">): string | undefined => {
  const twice = ONCE.find((name) => headerValues(mail, name).length > 1)
  if (twice !== undefined) return `it has several ${twice} headers`
  return headerValues(mail, "dkim-signature").length > MAX_SIGNATURES
    ? `it has more than ${MAX_SIGNATURES} signatures`
    : undefined
}

const isUnder = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/** Whether the signature is aligned with the sender's domain (DMARC, relaxed). */
const isAligned = ({ domain }: DkimSignature, sender: Mailbox): boolean =>
  isUnder(domain, sender.domain) || isUnder(sender.domain, domain)

/**
 * Whether the mail was written to one of the addresses: its To or Cc names it. Where the sender's domain signed To, Cc counts
 * only if it was signed too: otherwise anybody who got a signed mail could send it on to us with a Cc of their own.
 */
export const isWrittenTo = (
  mail: Pick<IncomingMail, "headers" | "to" | "cc">,
  sender: Mailbox,
  addresses: ReadonlySet<string>
): boolean => {
  const names = (written: ReadonlyArray<string>) =>
    written.some((address) => {
      const mailbox = Result.getOrUndefined(parseMailbox(address))
      return mailbox !== undefined && addresses.has(addressKey(mailbox))
    })
  if (names(mail.to)) return true
  const unsigned = dkimSignatures(mail.headers).some(
    (signature) => isAligned(signature, sender) && signature.covers.has("to") && !signature.covers.has("cc")
  )
  return !unsigned && names(mail.cc)
}
