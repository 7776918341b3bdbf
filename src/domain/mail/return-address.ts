import { KeyTag } from "../ids.ts"

/** `BOUNCE_ADDRESS`, taken apart: where reports about mail of the relay come back to. */
export interface ReturnAddress {
  readonly local: string
  /** In lower case, as a name server has it. */
  readonly domain: string
}

/** Longest local part (RFC 5321, section 4.5.3.1.1), octets. */
const MAX_LOCAL = 64

/** Base32 of RFC 4648 in lower case: servers may change the case of an address on its way. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
const BITS = 5

/** A tag's 32 bytes in base32. */
const TOKEN_LENGTH = 52
const TOKEN = new RegExp(`^[a-z2-7]{${TOKEN_LENGTH}}$`)

/** Longest local part that leaves room for `+` and the token. */
const MAX_OWN_LOCAL = MAX_LOCAL - TOKEN_LENGTH - 1

/** Hex digits of a tag that the Message-ID shows to every reader. */
const SHOWN_DIGITS = 32

/** The header that repeats the token, for relays that replace the envelope sender. */
export const RETURN_HEADER = "X-Postlane-Return"

/** Whether `BOUNCE_ADDRESS` may be this address. */
export const isReturnLocal = (local: string): boolean =>
  /^[a-z\d]+(?:[._+-][a-z\d]+)*$/.test(local) && local.length <= MAX_OWN_LOCAL

/**
 * The token of a mail's envelope sender: the whole tag of the key's use, which only the relay and the servers behind it get to see. Half
 * of it is in the Message-ID, so that the other 128 bits prove that a report comes from one of them (RETURN-2).
 */
export const returnToken = (tag: KeyTag): string => {
  let token = ""
  let held = 0
  let bits = 0
  for (const digit of tag) {
    held = (held << 4) | Number.parseInt(digit, 16)
    bits += 4
    if (bits < BITS) continue
    bits -= BITS
    token += ALPHABET[held >> bits]
    held &= (1 << bits) - 1
  }
  return bits === 0 ? token : token + ALPHABET[held << (BITS - bits)]
}

/** The tag of a token; undefined for any other text. Total. */
export const tagOfToken = (text: string): KeyTag | undefined => {
  const token = text.toLowerCase()
  if (!TOKEN.test(token)) return undefined
  let tag = ""
  let held = 0
  let bits = 0
  for (const char of token) {
    held = (held << BITS) | ALPHABET.indexOf(char)
    bits += BITS
    while (bits >= 4) {
      bits -= 4
      tag += (held >> bits).toString(16)
      held &= (1 << bits) - 1
    }
  }
  const whole = KeyTag.make(tag.slice(0, 64))
  // The last character has bits to spare: one form for each tag.
  return returnToken(whole) === token ? whole : undefined
}

/** The envelope sender of a mail (VERP). */
export const returnPath = ({ domain, local }: ReturnAddress, tag: KeyTag): string =>
  `${local}+${returnToken(tag)}@${domain}`

/** Message-ID of such a mail, without brackets. It follows from the tag, so that the row is found by the token alone. */
export const returnMessageId = ({ domain }: Pick<ReturnAddress, "domain">, tag: KeyTag): string =>
  `${tag.slice(0, SHOWN_DIGITS)}@${domain}`

/**
 * What a recipient's address says of a report: the tag of its mail, or nothing where it is the bare address. Undefined for any other
 * address.
 */
export const readReturnPath = (
  { domain, local }: ReturnAddress,
  address: string
): { readonly tag: KeyTag | undefined } | undefined => {
  const at = address.lastIndexOf("@")
  if (address.slice(at + 1).toLowerCase() !== domain) return undefined
  const found = address.slice(0, Math.max(at, 0)).toLowerCase()
  if (found === local) return { tag: undefined }
  if (!found.startsWith(`${local}+`)) return undefined
  const tag = tagOfToken(found.slice(local.length + 1))
  return tag && { tag }
}
