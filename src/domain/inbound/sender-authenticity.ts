import { Redacted, Result } from "effect"

import { asciiDomain, type Mailbox, parseMailbox } from "../mail/address.ts"
import { type MethodResult, parseAuthenticationResults } from "./authentication-results.ts"
import { headerValues, type IncomingMail, type MailHeader } from "./incoming-mail.ts"
import { unquotable } from "./quotable.ts"

/** Which servers are trusted about senders. */
export interface AuthenticityRules {
  /** `TRUSTED_MAIL_HOPS`: names of mail servers, in lower case. */
  readonly trustedHops: ReadonlyArray<string>
  /** Embedded and without named hops: a peer on loopback is believed without a header. */
  readonly trustsLoopback: boolean
  /** `TRUSTED_MAIL_HOP_SECRET`: what the hop writes into each mail's {@link HOP_SECRET_HEADER}; undefined: nothing is asked for. */
  readonly hopSecret?: Redacted.Redacted | undefined
}

/** The field that holds the hop's secret. */
const HOP_SECRET_HEADER = "x-postlane-hop"

/**
 * Exchange Online as a hop. Its reports name no server, and everybody's mail leaves it by the same hosts: only with a secret is it
 * known which organization's it was.
 */
export const EXCHANGE_ONLINE = "protection.outlook.com"

/** Takes the same time wherever the two differ. */
const isSame = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let at = 0; at < b.length; at++) difference |= (a.charCodeAt(at) || 0) ^ b.charCodeAt(at)
  return difference === 0
}

const hasSecret = (mail: Pick<IncomingMail, "headers">, secret: Redacted.Redacted): boolean => {
  const [given, ...more] = headerValues(mail, HOP_SECRET_HEADER)
  return given !== undefined && more.length === 0 && isSame(given, Redacted.value(secret))
}

/** Whether the sender of a mail is genuine. The reason is for the log. */
type Authenticity = { readonly verified: true } | { readonly verified: false; readonly reason: string }

/** Whether `name` is the hop or a subdomain of it. */
export const isOf = (name: string, hop: string): boolean => name === hop || name.endsWith(`.${hop}`)

/** The only sender of a mail; undefined for any other number of senders. */
export const senderOf = (mail: Pick<IncomingMail, "from" | "headers">): Mailbox | undefined => {
  const [address, ...more] = mail.from
  if (address === undefined || more.length > 0 || headerValues(mail, "from").length !== 1) return undefined
  return Result.getOrUndefined(parseMailbox(address))
}

/** The domain of an address, or of a bare domain. */
const domainOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : asciiDomain(value.slice(value.lastIndexOf("@") + 1))

/**
 * Whether a domain is aligned with the sender's: the same, or a parent, since its owner controls the subdomains. A subdomain is not:
 * it may be delegated to somebody else.
 */
const isAligned = (domain: string | undefined, sender: Mailbox): boolean =>
  domain !== undefined && isOf(sender.domain, domain)

/** The domain that signed; undefined where the identity that the signature names is not of it. */
const signedBy = ({ properties }: MethodResult): string | undefined => {
  const domain = domainOf(properties.get("header.d"))
  const identity = domainOf(properties.get("header.i"))
  if (!properties.has("header.d")) return identity
  if (domain === undefined || !properties.has("header.i")) return domain
  return identity !== undefined && isOf(identity, domain) ? domain : undefined
}

/** An aligned signature or return path that passed: the fallback where the sender's domain has no DMARC record. */
const hasAlignedPass = (results: ReadonlyArray<MethodResult>, sender: Mailbox): boolean =>
  results.some((one) => {
    if (one.result !== "pass") return false
    if (one.method === "dkim") return isAligned(signedBy(one), sender)
    return one.method === "spf" && isAligned(domainOf(one.properties.get("smtp.mailfrom")), sender)
  })

/** Fields that programs of a hop put between its reports; what a `Received` says of its writer is checked. */
const BETWEEN = /^(?:received-spf|(?:dkim|dmarc|spf|arc)-filter|arc-.*|x-.*)$/

const isBetween = ({ name, value }: MailHeader, hop: string): boolean => {
  if (name !== "received") return BETWEEN.test(name)
  const by = /\sby\s+([^\s;()]+)/i.exec(value)?.[1]?.toLowerCase()
  return by !== undefined && (isOf(by, hop) || isOf(hop, by))
}

/** What the trusted hop reports, header by header, and the index of its last header. */
interface Reported {
  readonly reports: ReadonlyArray<ReadonlyArray<MethodResult>>
  readonly lastAt: number
}

/**
 * What the trusted hop reports; the reason where that proves nothing. Its programs (DKIM, SPF, DMARC) each write a separate
 * header: its headers are those from its topmost one down to the first that is not its, and none below.
 */
const saidByHop = (
  { headers }: Pick<IncomingMail, "headers">,
  { hopSecret, trustedHops }: AuthenticityRules
): Reported | string => {
  const nameless = hopSecret !== undefined && trustedHops.includes(EXCHANGE_ONLINE) ? EXCHANGE_ONLINE : ""
  const reports: Array<ReadonlyArray<MethodResult>> = []
  let hop: string | undefined
  let lastAt = 0
  for (const [at, header] of headers.entries()) {
    if (header.name !== "authentication-results") {
      if (hop === undefined || isBetween(header, hop)) continue
      break
    }
    const read = parseAuthenticationResults(header.value)
    const server = read === undefined ? "" : (read.server ?? nameless)
    if (hop === undefined) {
      // This header may be the hop's, so that everything below it may be forged.
      if (server === "" || read === undefined) return "an Authentication-Results header cannot be read"
      if (!trustedHops.includes(server)) continue
    } else if (read === undefined || server !== hop) break
    hop = server
    lastAt = at
    if (read.results === undefined)
      return `what ${server} says of the sender cannot be read, or contradicts itself`
    reports.push(read.results)
    // It writes one, and renames what it finds.
    if (read.server === undefined) break
  }
  return hop === undefined ? "no trusted mail hop says whether the sender is genuine" : { reports, lastAt }
}

/**
 * What counts of the reports: of several headers about one method the topmost. Those below may be a stranger's, in the hop's name: some
 * programs leave standing what they cannot read, or what is about a method of another program.
 */
const counted = ({ reports }: Reported): ReadonlyArray<MethodResult> => {
  const reported = new Set<string>()
  return reports.flatMap((report) => {
    const first = report.filter(({ method }) => !reported.has(method))
    for (const { method } of first) reported.add(method)
    return first
  })
}

/** Results that say that the domain has no DMARC record; the second is Exchange Online's. */
const NO_RECORD: ReadonlySet<string> = new Set(["none", "bestguesspass"])

/**
 * Whether the sender verifiably sent the mail (INBOUND-4), by the `Authentication-Results` of a trusted hop: DMARC passed, or
 * the sender's domain has no DMARC record and an aligned signature or return path passed. A hop removes headers that forge its
 * name before it adds its own on top; those of other servers are ignored. `peerTrusted`: the verdict at intake.
 */
export const authenticityOf = (
  mail: Pick<IncomingMail, "headers" | "from">,
  sender: Mailbox,
  { envelopeFrom, peerTrusted }: { readonly envelopeFrom: string; readonly peerTrusted: boolean },
  rules: AuthenticityRules
): Authenticity => {
  const { hopSecret, trustedHops, trustsLoopback } = rules
  const no = (reason: string): Authenticity => ({ verified: false, reason })
  if (!peerTrusted) return no("it did not come from a trusted mail hop")
  if (trustedHops.length === 0) {
    return trustsLoopback ? { verified: true } : no("no trusted mail hop is named (TRUSTED_MAIL_HOPS)")
  }
  if (hopSecret !== undefined && !hasSecret(mail, hopSecret))
    return no("it does not bear the trusted mail hop's secret (TRUSTED_MAIL_HOP_SECRET)")
  const said = saidByHop(mail, rules)
  if (typeof said === "string") return no(said)
  const unsafe = unquotable(mail, { envelopeFrom, reportAt: said.lastAt })
  if (unsafe !== undefined) return no(unsafe)
  const results = counted(said)
  const dmarc = results.find(({ method }) => method === "dmarc")
  if (dmarc === undefined) return no("the trusted mail hop says nothing about DMARC")
  const from = dmarc.properties.get("header.from")
  if (from !== undefined && domainOf(from) !== sender.domain)
    return no("DMARC was checked for another domain than the sender's")
  if (dmarc.result === "pass") return { verified: true }
  if (!NO_RECORD.has(dmarc.result)) return no(`DMARC ${dmarc.result}`)
  return hasAlignedPass(results, sender)
    ? { verified: true }
    : no("the sender's domain has no DMARC record, and neither DKIM nor SPF passed for it")
}
