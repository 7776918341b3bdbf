import { Result } from "effect"

import { addressKey, type Mailbox, parseMailbox } from "../mail/address.ts"
import { headerValues, type IncomingMail, type MailHeader } from "./incoming-mail.ts"

/** A `DKIM-Signature` header (RFC 6376, section 3.5), as far as it identifies a mail; the mail hop verifies it. */
interface DkimSignature {
  /** `d=`, in lower case. */
  readonly domain: string
  /** Names of the headers that it covers, in lower case. */
  readonly covers: ReadonlySet<string>
  /** `b=` in canonical base64. */
  readonly value: string
}

/** Longest header that is parsed, characters: a key of 4,096 bits makes 700 of them. */
const MAX_LENGTH = 10_000

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/** Canonical base64: without what may differ between two encodings of the same bytes (spaces, padding, unused bits). */
const canonical = (base64: string): string => {
  const text = base64.replaceAll(/[^A-Za-z\d+/]/g, "")
  const spare = [0, 6, 4, 2][text.length % 4] ?? 0
  if (spare === 0) return text
  if (spare === 6) return text.slice(0, -1)
  const last = ALPHABET.indexOf(text.charAt(text.length - 1))
  return text.slice(0, -1) + ALPHABET.charAt((last >> spare) << spare)
}

const parse = (header: string): DkimSignature | undefined => {
  if (header.length > MAX_LENGTH) return undefined
  const tags = new Map<string, string>()
  for (const tag of header.split(";")) {
    const at = tag.indexOf("=")
    if (at > 0) tags.set(tag.slice(0, at).trim(), tag.slice(at + 1).trim())
  }
  const value = canonical(tags.get("b") ?? "")
  if (value === "") return undefined
  return {
    domain: (tags.get("d") ?? "").toLowerCase(),
    covers: new Set((tags.get("h") ?? "").split(":").map((name) => name.trim().toLowerCase())),
    value
  }
}

/** The signatures of a mail that can be parsed. Total. */
export const dkimSignatures = (headers: ReadonlyArray<MailHeader>): ReadonlyArray<DkimSignature> =>
  headers.flatMap(({ name, value }) => (name === "dkim-signature" ? (parse(value) ?? []) : []))

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
 * only if it was signed too: otherwise any recipient of a signed mail could send it on to us with another Cc.
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

/** Longest identifier that is kept, characters; RFC 5322 lines have 998. */
const MAX_ID = 998

/** The first `<id>` of a header, with its brackets. */
const ID = /<[^<>\s]+>/

const value = (headers: ReadonlyArray<MailHeader>, name: string): string =>
  headers.find((header) => header.name === name)?.value.trim() ?? ""

/** The Message-ID, as written in the mail; undefined unless a reply could cite it. */
export const messageIdOf = (headers: ReadonlyArray<MailHeader>): string | undefined => {
  const id = ID.exec(value(headers, "message-id"))?.[0]
  return id === undefined || id.length > MAX_ID || !/^[\x21-\x7e]+$/.test(id) ? undefined : id
}

/** What its writer wrote of a mail, apart from its contents; servers on the way write other headers. */
const WRITTEN = ["date", "subject", "to", "cc"] as const

const asWritten = (headers: ReadonlyArray<MailHeader>) =>
  value(headers, "date") === "" ? undefined : WRITTEN.map((name) => headerValues({ headers }, name))

/**
 * What makes two deliveries one mail, as a text to be hashed: Message-ID, sender and the hash of the decoded attachment. Scanners
 * write no Message-ID, and repeat a mail that was not answered: then the date, subject and recipients take its place, since the hop
 * adds other headers each time. Without a date, the hash of the raw mail does.
 */
export const identityText = (
  headers: ReadonlyArray<MailHeader>,
  sender: string,
  contentSha256: string,
  rawSha256: string
): string =>
  JSON.stringify([messageIdOf(headers) ?? asWritten(headers) ?? ["none", rawSha256], sender, contentSha256])

/**
 * What else identifies a mail, as texts to be hashed: each signature that it carries, with its sender. Somebody who sends a
 * signed mail again can change an unsigned Message-ID and add signatures, but cannot do without the genuine one.
 */
export const signatureTexts = (headers: ReadonlyArray<MailHeader>, sender: string): ReadonlyArray<string> =>
  dkimSignatures(headers).map((signature) => JSON.stringify(["dkim", signature.value, sender]))

/** Most entries of a `References` header that are kept: the first and the newest (RFC 5322, section 3.6.4). */
const MAX_REFERENCES = 20

/** `References` of a reply: those of the mail, else what the mail replied to, and the mail itself. */
export const referencesOf = (headers: ReadonlyArray<MailHeader>): string | undefined => {
  const own = messageIdOf(headers)
  if (own === undefined) return undefined
  const earlier = value(headers, "references") || value(headers, "in-reply-to")
  const ids = [...earlier.slice(0, 20_000).matchAll(/<[^<>\s]+>/g)]
    .map(([id]) => id)
    .filter((id) => id.length <= MAX_ID && /^[\x21-\x7e]+$/.test(id) && id !== own)
  const kept = ids.length > MAX_REFERENCES ? [ids[0]!, ...ids.slice(1 - MAX_REFERENCES)] : ids
  return [...kept, own].join(" ")
}

/** Longest subject that a reply repeats, characters. */
const MAX_SUBJECT = 200

/** The subject of a reply, `Re: …`; undefined where the mail has none, so that the reply uses its own. */
export const replySubject = (subject: string | undefined): string | undefined => {
  const clean = (subject ?? "")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^(?:\s*re\s*:\s*)+/i, "")
    .trim()
  return clean === "" ? undefined : `Re: ${Array.from(clean).slice(0, MAX_SUBJECT).join("")}`
}
