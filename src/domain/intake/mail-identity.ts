import { dkimSignatures } from "./dkim-signature.ts"
import type { MailHeader } from "./incoming-mail.ts"

/** Longest identifier that is kept, characters; RFC 5322 lines have 998. */
const MAX_ID = 998

/** `<id>` of a header that holds one, with its brackets. */
const ID = /<[^<>\s]+>/

const value = (headers: ReadonlyArray<MailHeader>, name: string): string =>
  headers.find((header) => header.name === name)?.value.trim() ?? ""

/** The Message-ID, as it stands in the mail; undefined where there is none that could be answered to. */
export const messageIdOf = (headers: ReadonlyArray<MailHeader>): string | undefined => {
  const id = ID.exec(value(headers, "message-id"))?.[0]
  return id === undefined || id.length > MAX_ID || !/^[\x21-\x7e]+$/.test(id) ? undefined : id
}

/**
 * What makes two deliveries one mail, as a text to be hashed: Message-ID, sender and the hash of the decoded attachment. Without a
 * Message-ID its place is taken by the hash of the mail as it came: every server on a mail's way would have added one, so that such a
 * mail comes from its writer, byte for byte the same each time.
 */
export const identityText = (
  headers: ReadonlyArray<MailHeader>,
  sender: string,
  contentSha256: string,
  rawSha256: string
): string => JSON.stringify([messageIdOf(headers) ?? ["none", rawSha256], sender, contentSha256])

/**
 * What else makes a mail that mail, as texts to be hashed: each signature that it carries, with its sender. Whoever sends a signed mail
 * again can change its Message-ID where that was not signed, and add signatures of their own, but cannot do without the genuine one.
 */
export const signatureTexts = (headers: ReadonlyArray<MailHeader>, sender: string): ReadonlyArray<string> =>
  dkimSignatures(headers).map((signature) => JSON.stringify(["dkim", signature.value, sender]))

/** Most entries of a `References` header that are repeated: the first and the newest (RFC 5322, section 3.6.4). */
const MAX_REFERENCES = 20

/** `References` of an answer to a mail: its own references, else what it answered, and the mail itself. */
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

/** Longest subject that an answer repeats, characters. */
const MAX_SUBJECT = 200

/** The subject of an answer, `Re: …`; undefined where the mail has none, so that the answer has its own. */
export const replySubject = (subject: string | undefined): string | undefined => {
  const clean = (subject ?? "")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^(?:\s*re\s*:\s*)+/i, "")
    .trim()
  return clean === "" ? undefined : `Re: ${Array.from(clean).slice(0, MAX_SUBJECT).join("")}`
}
