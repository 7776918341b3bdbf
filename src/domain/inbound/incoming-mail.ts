/** A header: name in lower case, value unfolded. */
export interface MailHeader {
  readonly name: string
  readonly value: string
}

/** A part of a mail that is not its text. */
export interface MailPart {
  /** Decoded; undefined where the mail has no name for it. */
  readonly filename: string | undefined
  /** In lower case, as declared. */
  readonly mediaType: string
  /** Shown inline (a logo in a signature), not attached. */
  readonly inline: boolean
  readonly content: Uint8Array
}

/** A parsed mail; a forwarded message's parts stand where the message stood. */
export interface IncomingMail {
  /** All of them, top first. */
  readonly headers: ReadonlyArray<MailHeader>
  /** Addresses of every From header, bare and as they were written. */
  readonly from: ReadonlyArray<string>
  /** Addresses of To and of Cc, bare and as they were written. */
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string | undefined
  /** In document order. */
  readonly parts: ReadonlyArray<MailPart>
}

/** The values of a header, top first. */
export const headerValues = (mail: Pick<IncomingMail, "headers">, name: string): ReadonlyArray<string> =>
  mail.headers.filter((header) => header.name === name).map(({ value }) => value)

/** Largest mail, bytes on the wire: 40 MB (INBOUND-1). */
export const MAX_MAIL_BYTES = 40 * 1024 * 1024

/** Most lines of a mail: 40 MB of base64 in lines of 64 characters are fewer. */
const MAX_LINES = 700_000

/** Most lines that are too short for an encoded file: these cost a parser most time and memory. */
const MAX_SHORT_LINES = 100_000
const SHORT = 40

/** Most lines that may begin a part: a parser makes an object of each. */
const MAX_PART_LINES = 2_000

/** Most bytes of the header section, and of one field. Real ones stay below 64 KB and 16 KB. */
const MAX_HEADER_BYTES = 256 * 1024
const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 1_000

const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d
const SPACE = 0x20
const TAB = 0x09

/** Which limit the header section exceeds; `end`: where the section ends. */
const headerProblem = (raw: Uint8Array): string | undefined => {
  let fields = 0
  let fieldAt = 0
  for (let at = 0; at < raw.length;) {
    const found = raw.indexOf(LF, at)
    const next = found === -1 ? raw.length : found + 1
    const first = raw[at]
    if (first === LF || (first === CR && next === at + 2)) return undefined
    if (first !== SPACE && first !== TAB) {
      fields += 1
      fieldAt = at
    }
    if (next > MAX_HEADER_BYTES) return `its header is longer than ${MAX_HEADER_BYTES} bytes`
    if (next - fieldAt > MAX_FIELD_BYTES)
      return `a field of its header is longer than ${MAX_FIELD_BYTES} bytes`
    if (fields > MAX_FIELDS) return `its header has more than ${MAX_FIELDS} fields`
    at = next
  }
  return undefined
}

const lineProblem = (raw: Uint8Array): string | undefined => {
  let lines = 0
  let short = 0
  let parts = 0
  for (let at = 0; at < raw.length;) {
    const found = raw.indexOf(LF, at)
    const next = found === -1 ? raw.length : found + 1
    lines += 1
    if (next - at < SHORT) short += 1
    if (raw[at] === DASH && raw[at + 1] === DASH) parts += 1
    if (lines > MAX_LINES) return `it has more than ${MAX_LINES} lines`
    if (short > MAX_SHORT_LINES) return `it has more than ${MAX_SHORT_LINES} short lines`
    if (parts > MAX_PART_LINES) return `it has more than ${MAX_PART_LINES} lines that may begin a part`
    at = next
  }
  return undefined
}

/**
 * Why a mail is not parsed: its form, not its size, would cost more than any real mail does. Undefined: it may be parsed. Looks
 * at each byte once, at most twice.
 */
export const beyondLimits = (raw: Uint8Array): string | undefined => headerProblem(raw) ?? lineProblem(raw)
