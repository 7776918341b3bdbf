import { Duration, Schema, SchemaTransformation } from "effect"

/** What PostgreSQL's text and jsonb refuse: NUL and lone surrogates, as `JSON.stringify` writes them. */
const REFUSED_IN_JSON = /\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** Text without NUL and lone surrogates: U+FFFD in their place. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD")

/** A value with every text of it storable, the names of members as well. */
const storablePart = (_: string, part: unknown): unknown => {
  if (typeof part === "string") return storable(part)
  return typeof part === "object" && part !== null && !Array.isArray(part)
    ? Object.fromEntries(Object.entries(part).map(([name, value]) => [storable(name), value]))
    : part
}

/** JSON in which PostgreSQL accepts every text. */
export const toJsonText = (value: unknown): string => {
  const text = JSON.stringify(value)
  return REFUSED_IN_JSON.test(text) ? JSON.stringify(value, storablePart) : text
}

/** Microseconds: the driver's dates stop at milliseconds, the order of rows does not. */
const TIME = '\'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\''

/** A time as ISO 8601 in UTC with microseconds, in SQL. */
export const timeText = (from: string): string => `to_char(${from} at time zone 'UTC', ${TIME})`

/** The beginning of a day (`YYYY-MM-DD`), UTC, in SQL. */
export const midnight = (day: string): string => `(${day}::text::timestamp at time zone 'UTC')`

/** Selects a time (`from`, where the column's own name would not do) as ISO 8601 in UTC with microseconds. */
export const timeColumn = (name: string, from = name): string => `${timeText(from)} as ${name}`

/** Whether {@link timeColumn} could have made the text: the pattern alone would let a 31 February through. */
export const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text) &&
  new Date(`${text.slice(0, 19)}Z`).getTime() > 0 &&
  new Date(`${text.slice(0, 19)}Z`).toISOString().startsWith(text.slice(0, 19))

/** A duration as `${…}::interval` takes it. */
export const interval = (duration: Duration.Duration): string => `${Duration.toMillis(duration)} milliseconds`

/** Text for a column; null for undefined. */
export const storableOrNull = (text: string | undefined): string | null =>
  text === undefined ? null : storable(text)

/** A nullable column; its null is `undefined` in the ports. */
export const Absent = <S extends Schema.Constraint>(schema: S) =>
  Schema.NullOr(schema).pipe(
    Schema.decodeTo(
      Schema.UndefinedOr(Schema.toType(schema)),
      SchemaTransformation.transform<S["Type"] | undefined, S["Type"] | null>({
        decode: (value) => (value === null ? undefined : value),
        encode: (value) => (value === undefined ? null : value)
      })
    )
  )

export const TextOrNull = Schema.NullOr(Schema.String)

/** A `bigint` column with values that are safe as numbers. */
export const Int8 = Schema.BigInt.pipe(
  Schema.decodeTo(Schema.Number, SchemaTransformation.transform({ decode: Number, encode: BigInt }))
)

/** A time as milliseconds of the epoch. */
export const Millis = Schema.Date.pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({ decode: (at) => at.getTime(), encode: (at) => new Date(at) })
  )
)

/** A time as ISO 8601. */
export const IsoTime = Schema.Date.pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (at) => at.toISOString(), encode: (at) => new Date(at) })
  )
)
