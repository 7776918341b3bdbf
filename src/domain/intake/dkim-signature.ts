import type { MailHeader } from "./incoming-mail.ts"

/** A `DKIM-Signature` header (RFC 6376, section 3.5), as far as it says what a mail is; whether it holds is the mail hop's to say. */
export interface DkimSignature {
  /** `d=`, in lower case. */
  readonly domain: string
  /** Names of the headers that it covers, in lower case. */
  readonly covers: ReadonlySet<string>
  /** `b=` in the one form of base64 that its bytes have. */
  readonly value: string
}

/** Longest header that is read, characters: a key of 4,096 bits makes 700 of them. */
const MAX_LENGTH = 10_000

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/** Base64 without what may differ between two writings of the same bytes: spaces, padding, bits that stand for nothing. */
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

/** The signatures of a mail, those that can be read. Total. */
export const dkimSignatures = (headers: ReadonlyArray<MailHeader>): ReadonlyArray<DkimSignature> =>
  headers.flatMap(({ name, value }) => (name === "dkim-signature" ? (parse(value) ?? []) : []))
