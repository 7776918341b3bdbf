/** What PostgreSQL's text and jsonb refuse: NUL and lone surrogates, as `JSON.stringify` writes them. */
const REFUSED_IN_JSON = /\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** Text without NUL and lone surrogates: U+FFFD in their place. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD")

/** JSON in which PostgreSQL accepts every text. */
export const toJsonText = (value: unknown): string => {
  const text = JSON.stringify(value)
  return REFUSED_IN_JSON.test(text)
    ? JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part))
    : text
}

/** Microseconds: the driver's dates stop at milliseconds, the order of rows does not. */
const TIME = '\'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\''

/** Selects a time (`from`, where the column's own name would not do) as ISO 8601 in UTC with microseconds. */
export const timeColumn = (name: string, from = name): string =>
  `to_char(${from} at time zone 'UTC', ${TIME}) as ${name}`

/** Whether {@link timeColumn} could have made the text: the pattern alone would let a 31 February through. */
export const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text) &&
  new Date(`${text.slice(0, 19)}Z`).getTime() > 0 &&
  new Date(`${text.slice(0, 19)}Z`).toISOString().startsWith(text.slice(0, 19))
