import { Result } from "effect"

import { asciiDomain, type Mailbox, parseMailbox } from "../mail/address.ts"
import { type MethodResult, parseAuthenticationResults } from "./authentication-results.ts"
import { headerValues, type IncomingMail } from "./incoming-mail.ts"

/** Whom we believe about senders. */
export interface AuthenticityRules {
  /** `TRUSTED_MAIL_HOPS`: names of mail servers, in lower case. */
  readonly trustedHops: ReadonlyArray<string>
  /** Embedded and without named hops: a peer on loopback is believed without a header. */
  readonly trustsLoopback: boolean
}

/** Whether the sender of a mail is who it says. The reason is for the log. */
export type Authenticity = { readonly verified: true } | { readonly verified: false; readonly reason: string }

/** Whether `name` is the hop or stands below it. */
export const isOf = (name: string, hop: string): boolean => name === hop || name.endsWith(`.${hop}`)

/** The one sender of a mail; undefined where there is none, or more than one. */
export const senderOf = (mail: Pick<IncomingMail, "from" | "headers">): Mailbox | undefined => {
  const [address, ...more] = mail.from
  if (address === undefined || more.length > 0 || headerValues(mail, "from").length !== 1) return undefined
  return Result.getOrUndefined(parseMailbox(address))
}

/** The domain of an address, or of what stands for one. */
const domainOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : asciiDomain(value.slice(value.lastIndexOf("@") + 1))

/**
 * Whether a domain speaks for the sender's: it is the same, or one above it, whose owner rules what stands below. One below it does
 * not: it may have been given to somebody else.
 */
const isAligned = (domain: string | undefined, sender: Mailbox): boolean =>
  domain !== undefined && isOf(sender.domain, domain)

/** A signature or a return path that passed and speaks for the sender: what is left where its domain has no DMARC record. */
const hasAlignedPass = (results: ReadonlyArray<MethodResult>, sender: Mailbox): boolean =>
  results.some(({ method, properties, result }) => {
    if (result !== "pass") return false
    if (method === "dkim")
      return isAligned(domainOf(properties.get("header.d") ?? properties.get("header.i")), sender)
    return method === "spf" && isAligned(domainOf(properties.get("smtp.mailfrom")), sender)
  })

/** What the trusted hop says, by the topmost header that may be its own; the reason where that proves nothing. */
const saidByHop = (
  mail: Pick<IncomingMail, "headers">,
  trustedHops: ReadonlyArray<string>
): ReadonlyArray<MethodResult> | string => {
  for (const value of headerValues(mail, "authentication-results")) {
    const read = parseAuthenticationResults(value)
    // It may be the hop's, and what stands below it anybody's.
    if (read === undefined) return "an Authentication-Results header cannot be read"
    if (trustedHops.includes(read.server)) {
      return read.results ?? `what ${read.server} says of the sender cannot be read`
    }
  }
  return "no trusted mail hop says whether the sender is genuine"
}

/**
 * Whether the sender verifiably sent the mail, says the topmost `Authentication-Results` of a trusted hop: DMARC passed, or the
 * sender's domain has no DMARC record and a signature or return path of its own passed. A hop takes out those that claim to be its
 * own before it adds its own on top; headers of others are not looked at. `peerTrusted`: what was found when the mail came in.
 */
export const authenticityOf = (
  mail: Pick<IncomingMail, "headers">,
  sender: Mailbox,
  peerTrusted: boolean,
  { trustedHops, trustsLoopback }: AuthenticityRules
): Authenticity => {
  const no = (reason: string): Authenticity => ({ verified: false, reason })
  if (!peerTrusted) return no("it did not come from a trusted mail hop")
  if (trustedHops.length === 0) {
    return trustsLoopback ? { verified: true } : no("no trusted mail hop is named (TRUSTED_MAIL_HOPS)")
  }
  const said = saidByHop(mail, trustedHops)
  if (typeof said === "string") return no(said)
  const dmarc = said.filter(({ method }) => method === "dmarc")
  const [first, ...more] = dmarc
  if (first === undefined) return no("the trusted mail hop says nothing about DMARC")
  if (more.some(({ result }) => result !== first.result)) return no("DMARC has several results")
  const other = dmarc.find(({ properties }) => {
    const from = properties.get("header.from")
    return from !== undefined && domainOf(from) !== sender.domain
  })
  if (other !== undefined) return no("DMARC was checked for another domain than the sender's")
  if (first.result === "pass") return { verified: true }
  if (first.result !== "none") return no(`DMARC ${first.result}`)
  return hasAlignedPass(said, sender)
    ? { verified: true }
    : no("the sender's domain has no DMARC record, and neither DKIM nor SPF passed for it")
}
