import { Result } from "effect"

/** One mailbox (RFC 5322, RFC 6531): a decoded display name and an address. */
export interface Mailbox {
  /** Decoded display name, if any. */
  readonly name: string | undefined
  /** Local part as compared and delivered, without quotes; case is kept. */
  readonly local: string
  /** Domain in lower case and in ASCII (an internationalised one as `xn--…`). */
  readonly domain: string
}

/** RFC 5321 limits, in characters. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
/** Longest text that is parsed, the display name included. */
export const MAX_MAILBOX = 320

const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
const DOT_ATOM = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*$`)
const DOT_ATOM_UTF8 = /^[^\s"(),:;<>@[\\\]\p{Cc}.]+(?:\.[^\s"(),:;<>@[\\\]\p{Cc}.]+)*$/u
const HOST = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/
const CONTROL = /[\p{Cc}\u2028\u2029]/u

/**
 * Invisible characters: fillers, joiners, marks of direction, spaces of other widths. Copied along with an address they make it
 * another one, which no suppression matches. `trim_address` of the database has the same characters.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Zs}\u2800\ufff9-\ufffb]/u

/** All of them but the joiners, which are part of some names of domains. */
const NOT_IN_DOMAINS = new RegExp(`(?![\\u200c\\u200d])${INVISIBLE.source}`, "gu")

const isSeen = (point: string): boolean => !INVISIBLE.test(point)

const withoutInvisibleStart = (text: string): string => {
  if (!INVISIBLE.test(text)) return text
  const points = Array.from(text)
  const first = points.findIndex(isSeen)
  return first === -1 ? "" : points.slice(first).join("")
}

/** The text without what is invisible at its edges, plain spaces among it. */
export const withoutInvisibleEdges = (text: string): string => {
  if (!INVISIBLE.test(text)) return text
  const points = Array.from(text)
  return withoutInvisibleStart(points.slice(0, points.findLastIndex(isSeen) + 1).join(""))
}

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

const mailbox = (name: string, local: string, domain: string): Result.Result<Mailbox, string> => {
  const host = asciiDomain(
    INVISIBLE.test(domain) ? withoutInvisibleEdges(domain).replace(NOT_IN_DOMAINS, "") : domain
  )
  if (host === undefined) return Result.fail(`"${domain}" is not a domain`)
  if (INVISIBLE.test(local.replaceAll(" ", "")))
    return Result.fail("holds an invisible character before the @: type the address again")
  // No UTF-8 has it: stored and sent, it would be another address.
  if (!local.isWellFormed()) return Result.fail("holds half of a character before the @")
  if (local.length > MAX_LOCAL)
    return Result.fail(`the part before the @ is longer than ${MAX_LOCAL} characters`)
  if (local.length + 1 + host.length > MAX_ADDRESS)
    return Result.fail(`longer than ${MAX_ADDRESS} characters`)
  return Result.succeed({ name: name === "" ? undefined : name, local, domain: host })
}

/** A word, a quoted string without its quotes, or a separator; `apart`: white space or a comment precedes it. */
interface Token {
  readonly kind: "word" | "quoted" | "." | "@" | "<" | ">" | "," | ":"
  readonly text: string
  readonly apart: boolean
}

const WORD = /[^ "(),.:;<>@[\\\]]+/y
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy

/** Where the comment that begins there ends; comments nest. */
const endOfComment = (text: string, begin: number): number | undefined => {
  let depth = 0
  for (let at = begin; at < text.length; at++) {
    const char = text[at]
    if (char === "\\") at++
    else if (char === "(") depth++
    else if (char === ")" && --depth === 0) return at + 1
  }
  return undefined
}

/** The tokens of RFC 5322, section 3.2, each character read once; `undefined` when the text has no such tokens. */
const tokensOf = (text: string): ReadonlyArray<Token> | undefined => {
  const tokens: Array<Token> = []
  let apart = false
  for (let at = 0; at < text.length;) {
    const char = text[at]!
    if (char === " " || char === "(") {
      const end = char === " " ? at + 1 : endOfComment(text, at)
      if (end === undefined) return undefined
      at = end
      apart = true
      continue
    }
    if (char === "." || char === "@" || char === "<" || char === ">" || char === "," || char === ":") {
      tokens.push({ kind: char, text: char, apart })
      at++
    } else {
      const pattern = char === '"' ? QUOTED : WORD
      pattern.lastIndex = at
      const found = pattern.exec(text)
      if (found === null) return undefined
      const quoted = found[1]?.replace(/\\(.)/gs, "$1").replace(/ +/g, " ")
      tokens.push({ kind: quoted === undefined ? "word" : "quoted", text: quoted ?? found[0], apart })
      at = pattern.lastIndex
    }
    apart = false
  }
  return tokens
}

const isWord = ({ kind }: Token): boolean => kind === "word" || kind === "quoted"

const isSeenToken = ({ kind, text }: Token): boolean => kind !== "word" || withoutInvisibleStart(text) !== ""

/** The tokens without what is invisible before their first word and apart from their last one; the rest of it is the domain's, which drops it. */
const seenOf = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  const seen = tokens.slice(Math.max(tokens.findIndex(isSeenToken), 0), tokens.findLastIndex(isSeenToken) + 1)
  return seen.map((token, at) =>
    at === 0 && token.kind === "word" ? { ...token, text: withoutInvisibleStart(token.text) } : token
  )
}

/** Words with a dot between each two, as one text. */
const dotted = (tokens: ReadonlyArray<Token>): string | undefined =>
  tokens.length % 2 === 1 && tokens.every((token, at) => (at % 2 === 0 ? isWord(token) : token.kind === "."))
    ? tokens.map(({ text }) => text).join("")
    : undefined

/** The words and dots before an address, in the white space that they have, each run of it one space. */
const displayName = (tokens: ReadonlyArray<Token>): string | undefined =>
  tokens.every((token, at) => isWord(token) || (token.kind === "." && at > 0))
    ? withoutInvisibleEdges(
        tokens
          .map(({ apart, text }) => (apart ? ` ${text}` : text))
          .join("")
          .replace(/ +/g, " ")
      )
    : undefined

/** Parses one mailbox, `a@x.test` or `Name <a@x.test>`; fails with what is wrong, in words for the person who wrote it. */
export const parseMailbox = (text: string): Result.Result<Mailbox, string> => {
  if (text.length > MAX_MAILBOX) return Result.fail(`longer than ${MAX_MAILBOX} characters`)
  if (CONTROL.test(text)) return Result.fail("holds a line break or another control character")
  const all = tokensOf(withoutInvisibleEdges(text)) ?? []
  // Commas before it are empty places of a list.
  const tokens = all.slice(
    Math.max(
      all.findIndex(({ kind }) => kind !== ","),
      0
    )
  )
  const open = tokens.findIndex(({ kind }) => kind === "<")
  const isNamed = open !== -1 && tokens.at(-1)?.kind === ">"
  const address = isNamed ? seenOf(tokens.slice(open + 1, -1)) : tokens
  const at = address.findIndex(({ kind }) => kind === "@")
  const local = dotted(address.slice(0, Math.max(at, 0)))
  const domain = address.slice(at + 1).some(({ kind }) => kind === "quoted")
    ? undefined
    : dotted(address.slice(at + 1))
  const name = isNamed ? displayName(tokens.slice(0, open)) : ""
  return local === undefined || domain === undefined || name === undefined
    ? Result.fail("is not one mail address")
    : mailbox(name, local, domain)
}

/** As {@link parseMailbox}, for an address that a person types in: internet mail never goes to a domain without a dot. */
export const parsePublicMailbox = (text: string): Result.Result<Mailbox, string> =>
  Result.flatMap(parseMailbox(text), (box) =>
    box.domain.includes(".")
      ? Result.succeed(box)
      : Result.fail(`"${box.domain}" is no domain that gets mail: it has no dot`)
  )

/** The bare address for delivery, its local part quoted if needed. */
export const addressOf = (box: Mailbox): string => {
  const plain = DOT_ATOM.test(box.local) || DOT_ATOM_UTF8.test(box.local)
  const local = plain ? box.local : `"${box.local.replace(/["\\]/g, "\\$&")}"`
  return `${local}@${box.domain}`
}

/** The key under which a mailbox is compared and stored: bare, lower-case, NFC. */
export const addressKey = (box: Mailbox): string => addressOf(box).normalize("NFC").toLowerCase()

/** A filter that lets each address through once, over all lists that it is used for. */
export const onceEach = (): ((boxes: ReadonlyArray<Mailbox>) => ReadonlyArray<Mailbox>) => {
  const seen = new Set<string>()
  return (boxes) =>
    boxes.filter((box) => {
      const key = addressKey(box)
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
}

/** {@link addressKey} of a typed address. Text that is not an address is compared unchanged, so that a row with it is found. */
export const writtenKey = (text: string): string => {
  const trimmed = withoutInvisibleEdges(text.trim())
  const parsed = parseMailbox(trimmed)
  return Result.isSuccess(parsed) ? addressKey(parsed.success) : trimmed.toLowerCase()
}

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
