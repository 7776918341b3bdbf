import { headerValues, type IncomingMail, type MailHeader } from "./incoming-mail.ts"

/**
 * Values that a sender writes and a mail server copies into the headers it adds: the envelope sender, the name in HELO, tags of a
 * signature, the domain of the From. Most servers copy them unchanged, so that a copy with a semicolon or a parenthesis can read
 * as a verdict of the server. Such a mail proves nothing, whatever its headers say (INBOUND-4).
 */

/**
 * Characters that no server can copy safely: they end a value, begin a comment or a string, or escape. `=` is allowed in a local
 * part without quotes (RFC 8601, section 2.2) and occurs with BATV, SRS and lists; it does not end a value.
 */
const UNSAFE = /[\s\p{Cc}()<>;"\\]/u

/** True when a header can hold the address as one value, without quotes. The null return path counts. */
export const isQuotableAddress = (address: string): boolean => !UNSAFE.test(address)

/** Whether the name in HELO does. A host name or an address literal has no `=` either. */
export const isQuotableName = (name: string): boolean => !UNSAFE.test(name) && !name.includes("=")

/** `=3B` → `;` (RFC 6376, section 2.11). */
const decoded = (text: string): string =>
  text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** Tags of a signature that verifiers report: domain, selector, algorithm and identity. */
const REPORTED = new Set(["d", "s", "a", "i"])

/** The tag of a `DKIM-Signature` that is not quotable. */
const unsafeTag = (signature: string): string | undefined => {
  for (const tag of signature.split(";")) {
    const at = tag.indexOf("=")
    const name = tag.slice(0, at).trim().toLowerCase()
    const value = tag.slice(at + 1).trim()
    if (name === "b" && /[^A-Za-z0-9+/=\s]/.test(value)) return name
    if (REPORTED.has(name) && (UNSAFE.test(value) || UNSAFE.test(decoded(value)))) return name
  }
  return undefined
}

/** A text without its comments, and whether each comment and string in it is closed. */
const bare = (text: string): { readonly text: string; readonly closed: boolean } => {
  let depth = 0
  let rest = ""
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (depth > 0 && char === "\\") at++
    else if (char === "(") depth++
    else if (char === ")") {
      if (depth === 0) return { text: rest, closed: false }
      depth--
      rest += " "
    } else if (depth === 0) rest += char
  }
  return { text: rest, closed: depth === 0 }
}

/** `from NAME (comment) by …`: the name, and the comment after it, where some servers put the name. */
const FROM = /^\s*from\s+([^\s(]\S*)?\s*(\((?:[^()\\]|\([^()\\]*\))*\))?/i

/**
 * Whether a `Received` header has one `from`, one `by` and one date, as a server writes it. A name in HELO that holds spaces,
 * parentheses or a semicolon makes more of them, or leaves a comment open.
 */
const isPlainReceived = (received: string): boolean => {
  if (!/^\s*from\s/i.test(received)) return true
  const found = FROM.exec(received)
  if (found === null || !isQuotableName(found[1] ?? "") || /[;"]/.test(found[2] ?? "")) return false
  const { closed, text } = bare(received)
  const [clauses = "", ...dates] = text.split(";")
  const words = clauses.trim().toLowerCase().split(/\s+/)
  return (
    closed && dates.length <= 1 && !/["\\]/.test(text) && words.filter((word) => word === "by").length <= 1
  )
}

/** What may follow the address in a From header: a comment that every reader ends at the same place. */
const COMMENT_AFTER = /^\s*(?:\([^()\\;="]*\)\s*)?$/

/** Whether every reader of a From header finds this address in it, so that a server reports on this one and on no other. */
const isPlainFrom = (from: string, address: string): boolean => {
  const open = from.lastIndexOf("<")
  const close = from.indexOf(">", open)
  const [said, after] =
    open === -1
      ? [from.trimStart().slice(0, address.length), from.trimStart().slice(address.length)]
      : [from.slice(open + 1, close === -1 ? undefined : close).trim(), from.slice(close + 1)]
  return said.toLowerCase() === address.toLowerCase() && COMMENT_AFTER.test(after)
}

/**
 * The `Received` headers that the hop may have written: those down to its last report, and the next one below, since some programs
 * put their reports above it.
 */
const ofHop = (headers: ReadonlyArray<MailHeader>, reportAt: number): ReadonlyArray<string> => {
  const isReceived = ({ name }: MailHeader) => name === "received"
  const below = headers.slice(reportAt + 1).find(isReceived)
  return [...headers.slice(0, reportAt).filter(isReceived), ...(below === undefined ? [] : [below])].map(
    ({ value }) => value
  )
}

/** Why a copy of what the sender wrote could read as a verdict; undefined where none could. `reportAt`: the hop's last report. */
export const unquotable = (
  mail: Pick<IncomingMail, "headers" | "from">,
  { envelopeFrom, reportAt }: { readonly envelopeFrom: string; readonly reportAt: number }
): string | undefined => {
  const no = (what: string) => `${what} could be read as part of a mail server's report`
  if (!isQuotableAddress(envelopeFrom)) return no("its envelope sender")
  if (!ofHop(mail.headers, reportAt).every(isPlainReceived)) return no("the name that its server gave")
  const tag = headerValues(mail, "dkim-signature").map(unsafeTag).find(Boolean)
  if (tag !== undefined) return no(`the ${tag}= of a signature`)
  const [from = ""] = headerValues(mail, "from")
  return isPlainFrom(from, mail.from[0] ?? "") ? undefined : no("its From")
}
