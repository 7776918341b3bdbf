/** What PostgreSQL's text and jsonb refuse: NUL, and half of a surrogate pair, as `JSON.stringify` writes them. */
const REFUSED_IN_JSON = /\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** Text without NUL and lone surrogates: U+FFFD in their place. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD")

/** JSON whose every text PostgreSQL takes. */
export const toJsonText = (value: unknown): string => {
  const text = JSON.stringify(value)
  return REFUSED_IN_JSON.test(text)
    ? JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part))
    : text
}
