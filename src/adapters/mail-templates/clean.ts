/** Longest URL that a mail links to, characters as written out. */
const MAX_URL = 2000

/** Longest subject, characters. */
export const MAX_SUBJECT = 200

const CONTROL = /(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu
/** Characters that turn the order of what follows them: a file name could pass for another. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g

/** A value of several lines as it may be shown: well-formed, without control characters, its ends trimmed. */
export const cleanText = (value: string): string =>
  value
    .toWellFormed()
    .replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replaceAll(CONTROL, "")
    .replaceAll(BIDI, "")
    .trim()

/** A value on one line. */
export const cleanLine = (value: string): string => cleanText(value).replaceAll(/\s+/g, " ")

/** At most `limit` characters, never half of a surrogate pair; what was cut shows as an ellipsis. */
export const clip = (value: string, limit: number): string =>
  value.length <= limit ? value : `${value.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`

/** What is read of a value for each character that is shown: cleaning takes some away. */
const READ = 4

/** A value as `clean` leaves it, of at most `limit` characters. Of a long one only the beginning is read. */
export const cleanWithin = (clean: (value: string) => string, value: string, limit: number): string =>
  clip(clean(clip(value, READ * limit)), limit)

/**
 * The full address of a link, if a mail may have it: http, https or mailto, without credentials; else `undefined`, and the link's
 * text is shown without a link.
 */
export const safeUrl = (value: string): string | undefined => {
  const url = URL.parse(value.toWellFormed())
  if (url === null || url.username !== "" || url.password !== "") return undefined
  if (url.protocol !== "https:" && url.protocol !== "http:" && url.protocol !== "mailto:") return undefined
  return url.href.length > MAX_URL ? undefined : url.href
}

/** A mail address as a link. */
export const mailtoUrl = (address: string): string =>
  `mailto:${encodeURIComponent(address.toWellFormed()).replace("%40", "@")}`
