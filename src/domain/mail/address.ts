import { Result } from "effect"
import parse from "email-addresses"

/** One mailbox (RFC 5322, RFC 6531): a decoded display name and an address. */
export interface Mailbox {
  /** Decoded display name; `undefined` where there is none. */
  readonly name: string | undefined
  /** Local part as it is compared and delivered, without quotes; case is kept. */
  readonly local: string
  /** Domain in lower case and in ASCII (an internationalised one as `xn--…`). */
  readonly domain: string
}

/** RFC 5321 limits, in characters. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
/** Longest text that is parsed, the display name included; the parser's time grows faster than its length. */
export const MAX_MAILBOX = 320
/** Most comments and quoted strings of a mailbox. */
const MAX_MARKED = 8

const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
const DOT_ATOM = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*$`)
const DOT_ATOM_UTF8 = /^[^\s"(),:;<>@[\\\]\p{Cc}.]+(?:\.[^\s"(),:;<>@[\\\]\p{Cc}.]+)*$/u
const HOST = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/
/** The common form of an address; the full parser is thirty times as slow. */
const PLAIN = new RegExp(`^(${ATEXT}+(?:\\.${ATEXT}+)*)@([A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*)$`)
const PLAIN_NAMED = new RegExp(
  `^([A-Za-z0-9 -]*[A-Za-z0-9]) *<(${ATEXT}+(?:\\.${ATEXT}+)*)@([A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*)>$`
)
const CONTROL = /[\p{Cc}\u2028\u2029]/u

/** The domain in lower-case ASCII, or `undefined` where it is no host name (an address literal among them). */
export const asciiDomain = (domain: string): string | undefined => {
  const lower = domain.toLowerCase().replace(/\.$/, "")
  if (HOST.test(lower)) return lower
  if (!/\P{ASCII}/u.test(lower)) return undefined
  // `URL` would take these for the end of its host.
  if (/[/?#:@\\%[\]\s]/.test(lower)) return undefined
  try {
    const host = new URL(`http://${lower}/`).hostname
    return HOST.test(host) ? host : undefined
  } catch {
    return undefined
  }
}

const mailbox = (name: string | undefined, local: string, domain: string): Result.Result<Mailbox, string> => {
  const host = asciiDomain(domain)
  if (host === undefined) return Result.fail(`"${domain}" is not a domain`)
  if (local.length > MAX_LOCAL)
    return Result.fail(`the part before the @ is longer than ${MAX_LOCAL} characters`)
  if (local.length + 1 + host.length > MAX_ADDRESS)
    return Result.fail(`longer than ${MAX_ADDRESS} characters`)
  return Result.succeed({ name: name === undefined || name === "" ? undefined : name, local, domain: host })
}

/**
 * Whether comments and quoted strings are few and all closed, seen in one pass. The parser behind goes through the rest of the
 * text again for each one that is open, which takes its length squared.
 */
const isClosed = (text: string): boolean => {
  let depth = 0
  let quoted = false
  let marked = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === "\\" && (quoted || depth > 0)) at++
    else if (quoted) quoted = char !== '"'
    else if (char === "(") {
      depth++
      marked++
    } else if (char === ")") depth--
    else if (char === '"' && depth === 0) {
      quoted = true
      marked++
    }
    if (depth < 0) return false
  }
  return depth === 0 && !quoted && marked <= MAX_MARKED
}

/** Parses one mailbox, `a@x.test` or `Name <a@x.test>`; fails with what is wrong, in words for the person who wrote it. */
export const parseMailbox = (text: string): Result.Result<Mailbox, string> => {
  if (text.length > MAX_MAILBOX) return Result.fail(`longer than ${MAX_MAILBOX} characters`)
  if (CONTROL.test(text)) return Result.fail("holds a line break or another control character")
  if (!isClosed(text)) return Result.fail("has a bracket or a quote too many")
  const plain = PLAIN.exec(text)
  if (plain !== null) return mailbox(undefined, plain[1]!, plain[2]!)
  const named = PLAIN_NAMED.exec(text)
  if (named !== null) return mailbox(named[1]!.trim(), named[2]!, named[3]!)
  const parsed = parse({ input: text, rfc6532: true })
  const only = parsed?.addresses.length === 1 ? parsed.addresses[0] : undefined
  if (only === undefined || only.type !== "mailbox") return Result.fail("is not one mail address")
  return mailbox(only.name ?? undefined, only.local, only.domain)
}

/** As {@link parseMailbox}, for an address that a person types in: internet mail never goes to a domain without a dot. */
export const parsePublicMailbox = (text: string): Result.Result<Mailbox, string> =>
  Result.flatMap(parseMailbox(text), (box) =>
    box.domain.includes(".")
      ? Result.succeed(box)
      : Result.fail(`"${box.domain}" is no domain that gets mail: it has no dot`)
  )

/** The bare address as it is delivered: a quoted local part where one is needed. */
export const addressOf = (box: Mailbox): string => {
  const plain = DOT_ATOM.test(box.local) || DOT_ATOM_UTF8.test(box.local)
  const local = plain ? box.local : `"${box.local.replace(/["\\]/g, "\\$&")}"`
  return `${local}@${box.domain}`
}

/** The key under which a mailbox is compared and stored: bare, lower-case, NFC. */
export const addressKey = (box: Mailbox): string => addressOf(box).normalize("NFC").toLowerCase()

/** The mailbox as a header value, before any encoding of non-ASCII names. */
export const formatMailbox = (box: Mailbox): string => {
  const address = addressOf(box)
  if (box.name === undefined) return address
  const name = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~ \u0080-\u{10ffff}-]+$/u.test(box.name)
    ? box.name
    : `"${box.name.replace(/["\\]/g, "\\$&")}"`
  return `${name} <${address}>`
}

const FORMATTED = /^(?:"(?:[^"\\]|\\.)*"|[^"<]*) <(.+)>$/s

/**
 * The {@link addressKey} of a mailbox that {@link formatMailbox} wrote, also where its name was encoded since. Provider
 * requests hold mailboxes in that form.
 */
export const formattedKey = (formatted: string): string =>
  (FORMATTED.exec(formatted)?.[1] ?? formatted).normalize("NFC").toLowerCase()

/** The two synonym domains, in lower-case ASCII: mail leaves from `sender` only. */
export interface SenderDomains {
  readonly sender: string
  readonly legacy: string
}

/**
 * Rewrites a From address on the legacy domain, or on any subdomain of it, to the same local part at the sender domain; the
 * display name stays (MAIL-13, S8). A sender domain that is itself a subdomain of the legacy one is left alone.
 */
export const rewriteSender = (from: Mailbox, domains: SenderDomains): Mailbox => {
  const onSender = from.domain === domains.sender || from.domain.endsWith(`.${domains.sender}`)
  const onLegacy = from.domain === domains.legacy || from.domain.endsWith(`.${domains.legacy}`)
  const senderUnderLegacy = domains.sender.endsWith(`.${domains.legacy}`)
  return onLegacy && !(onSender && senderUnderLegacy) ? { ...from, domain: domains.sender } : from
}
