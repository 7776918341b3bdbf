import { Result } from "effect"

import { asciiDomain, type Mailbox, parseMailbox } from "../mail/address.ts"
import { headerValues, type IncomingMail } from "./incoming-mail.ts"

/** One method's result: `dmarc=pass header.from=x.test`. All in lower case but the properties' values. */
interface MethodResult {
  readonly method: string
  readonly result: string
  /** `header.from` → `x.test`. */
  readonly properties: ReadonlyMap<string, string>
}

/** An `Authentication-Results` header: who reports, and what. */
interface AuthenticationResults {
  /** The `authserv-id`, in lower case. */
  readonly server: string
  /** Undefined where any of it cannot be parsed: then none of it proves anything. */
  readonly results: ReadonlyArray<MethodResult> | undefined
}

/** Longest header that is parsed, characters: real ones stay below 2,000. */
const MAX_LENGTH = 8_000

/**
 * Splits at `;` outside of quoted strings, removes comments (nested ones too) and keeps quoted strings whole. `open`: a comment
 * or a string is not closed, so that the last clause cannot be parsed.
 */
const scan = (text: string): { readonly clauses: ReadonlyArray<string>; readonly open: boolean } => {
  const clauses: Array<string> = []
  let clause = ""
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if ((quoted || depth > 0) && char === "\\") {
      if (quoted) clause += char + text.charAt(at + 1)
      at++
    } else if (quoted) {
      clause += char
      if (char === '"') quoted = false
    } else if (char === "(") {
      depth++
    } else if (char === ")" && depth > 0) {
      depth--
      // A comment separates, as a space does.
      if (depth === 0) clause += " "
    } else if (depth === 0 && char === ";") {
      clauses.push(clause.trim())
      clause = ""
    } else if (depth === 0) {
      if (char === '"') quoted = true
      clause += char
    }
  }
  return { clauses: [...clauses, clause.trim()], open: quoted || depth > 0 }
}

const VALUE = '(?:"((?:\\\\.|[^"\\\\])*)"|([^\\s;"]+))'
const SERVER = new RegExp(`^${VALUE}(?:\\s+\\d+)?$`, "s")
const METHOD = /^([a-z0-9-]+)(?:\s*\/\s*\d+)?\s*=\s*([a-z0-9-]+)(?=\s|$)/i
/** Both match at one place only: a search would take quadratic time, and look into quoted strings. */
const PROPERTY = new RegExp(`([a-z0-9-]+)\\s*\\.\\s*([a-z0-9._-]+)\\s*=\\s*${VALUE}`, "isy")
const WORD = /(?:"(?:\\.|[^"\\])*"|[^\s"])+|\s+/sy

const plain = (quoted: string | undefined, bare: string | undefined): string =>
  quoted === undefined ? (bare ?? "") : quoted.replaceAll(/\\(.)/gs, "$1")

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const propertiesOf = (text: string): ReadonlyMap<string, string> => {
  const properties = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const found = matchAt(PROPERTY, text, at)
    at += (found ?? matchAt(WORD, text, at))?.[0].length ?? 1
    if (found === null) continue
    const [, type, name, quoted, bare] = found
    const key = `${type}.${name}`.toLowerCase()
    // The first of its name counts.
    if (!properties.has(key)) properties.set(key, plain(quoted, bare))
  }
  return properties
}

const methodOf = (clause: string): MethodResult | undefined => {
  const head = METHOD.exec(clause)
  return head === null
    ? undefined
    : {
        method: head[1]!.toLowerCase(),
        result: head[2]!.toLowerCase(),
        properties: propertiesOf(clause.slice(head[0].length))
      }
}

const resultsOf = (clauses: ReadonlyArray<string>): ReadonlyArray<MethodResult> | undefined => {
  const said = clauses.filter((clause) => clause !== "" && clause.toLowerCase() !== "none").map(methodOf)
  return said.every((one) => one !== undefined) ? said : undefined
}

/**
 * Parses the value of an `Authentication-Results` header (RFC 8601); undefined where its authserv-id cannot be determined. Total,
 * in linear time.
 */
export const parseAuthenticationResults = (value: string): AuthenticationResults | undefined => {
  const { clauses, open } = scan(value.slice(0, MAX_LENGTH))
  const [first = "", ...rest] = clauses
  const server = open && rest.length === 0 ? null : SERVER.exec(first)
  // A quoted name with a space or a semicolon in it cannot be a host's.
  if (server === null || /[\s;]/.test(plain(server[1], server[2]))) return undefined
  return {
    server: plain(server[1], server[2]).toLowerCase(),
    results: open || value.length > MAX_LENGTH ? undefined : resultsOf(rest)
  }
}

/** Which servers are trusted about senders. */
export interface AuthenticityRules {
  /** `TRUSTED_MAIL_HOPS`: names of mail servers, in lower case. */
  readonly trustedHops: ReadonlyArray<string>
  /** Embedded and without named hops: a peer on loopback is believed without a header. */
  readonly trustsLoopback: boolean
}

/** Whether the sender of a mail is genuine. The reason is for the log. */
type Authenticity = { readonly verified: true } | { readonly verified: false; readonly reason: string }

/** Whether `name` is the hop or a subdomain of it. */
export const isOf = (name: string, hop: string): boolean => name === hop || name.endsWith(`.${hop}`)

/** The only sender of a mail; undefined where there is none, or more than one. */
export const senderOf = (mail: Pick<IncomingMail, "from" | "headers">): Mailbox | undefined => {
  const [address, ...more] = mail.from
  if (address === undefined || more.length > 0 || headerValues(mail, "from").length !== 1) return undefined
  return Result.getOrUndefined(parseMailbox(address))
}

/** The domain of an address, or of a bare domain. */
const domainOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : asciiDomain(value.slice(value.lastIndexOf("@") + 1))

/**
 * Whether a domain is aligned with the sender's: the same, or a parent, whose owner controls its subdomains. A subdomain is not:
 * it may be delegated to somebody else.
 */
const isAligned = (domain: string | undefined, sender: Mailbox): boolean =>
  domain !== undefined && isOf(sender.domain, domain)

/** An aligned signature or return path that passed: the fallback where the sender's domain has no DMARC record. */
const hasAlignedPass = (results: ReadonlyArray<MethodResult>, sender: Mailbox): boolean =>
  results.some(({ method, properties, result }) => {
    if (result !== "pass") return false
    if (method === "dkim")
      return isAligned(domainOf(properties.get("header.d") ?? properties.get("header.i")), sender)
    return method === "spf" && isAligned(domainOf(properties.get("smtp.mailfrom")), sender)
  })

/** What the trusted hop reports, by the topmost header that may be its own; the reason where that proves nothing. */
const saidByHop = (
  mail: Pick<IncomingMail, "headers">,
  trustedHops: ReadonlyArray<string>
): ReadonlyArray<MethodResult> | string => {
  for (const value of headerValues(mail, "authentication-results")) {
    const read = parseAuthenticationResults(value)
    // It may be the hop's, and what stands below it may be anybody's.
    if (read === undefined) return "an Authentication-Results header cannot be read"
    if (trustedHops.includes(read.server)) {
      return read.results ?? `what ${read.server} says of the sender cannot be read`
    }
  }
  return "no trusted mail hop says whether the sender is genuine"
}

/**
 * Whether the sender verifiably sent the mail (INBOUND-4), by the topmost `Authentication-Results` of a trusted hop: DMARC
 * passed, or the sender's domain has no DMARC record and an aligned signature or return path passed. A hop removes headers that
 * forge its name before it adds its own on top; those of other servers are ignored. `peerTrusted`: the verdict at intake.
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
