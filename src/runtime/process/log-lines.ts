import { Redacted, Cause, Context, Formatter, Logger, References, Tracer } from "effect"

import { decodedPercent } from "../settings/percent-encoding.ts"

/** Takes known secrets out of a text. */
export type Scrub = (text: string) => string

/** Anything shorter would blank out ordinary words. */
const SHORTEST = 6

const MASK = "<redacted>"

const collect = (value: unknown, into: Set<string>): void => {
  if (Redacted.isRedacted(value)) collectSecret(String(Redacted.value(value)), into)
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) collect(part, into)
}

/** Collects the secret, the password in it if it is an address, and both as encoded in a URL or in JSON. */
const collectSecret = (secret: string, into: Set<string>): void => {
  const spellings = (text: string) => {
    for (const spelling of [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]) {
      if (spelling.length >= SHORTEST) into.add(spelling)
    }
  }
  spellings(secret)
  const url = /^[a-z]+:\/\//.test(secret) && URL.canParse(secret) ? new URL(secret) : undefined
  if (url !== undefined && url.password !== "") {
    spellings(url.password)
    spellings(decodedPercent(url.password) ?? "")
  }
}

/**
 * Masks every secret that these values hold as `Redacted`, at any depth. The second line of defence: a foreign library may quote
 * its input in an error message.
 */
export const scrubOf = (values: unknown): Scrub => {
  const secrets = new Set<string>()
  collect(values, secrets)
  if (secrets.size === 0) return (text) => text
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length)
  const literal = longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
  const pattern = new RegExp(literal.join("|"), "g")
  return (text) => text.replace(pattern, MASK)
}

/** Where log lines go: the part of a Node stream that is needed. */
export interface LogSink {
  readonly isTTY?: boolean | undefined
  readonly write: (line: string) => unknown
}

interface Entry {
  readonly date: Date
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: string | undefined
}

/** What one log call says: its words, its values by name, and what went wrong. */
interface Said {
  readonly words: ReadonlyArray<string>
  readonly fields: Readonly<Record<string, unknown>>
  readonly causes: ReadonlyArray<string>
}

const saidBy = (part: unknown): Partial<Said> => {
  if (typeof part !== "object" || part === null) return { words: [String(part)] }
  if (part instanceof Error) return { causes: [Cause.pretty(Cause.fail(part))] }
  return { fields: Array.isArray(part) ? { detail: part } : { ...part } }
}

/** The parts of a message: values and errors become members of the line, never JSON in its text. */
const saidIn = (message: unknown): Said => {
  const parts = (Array.isArray(message) ? message : [message]).map(saidBy)
  return {
    words: parts.flatMap(({ words = [] }) => words),
    fields: Object.assign({}, ...parts.map(({ fields }) => fields)) as Said["fields"],
    causes: parts.flatMap(({ causes = [] }) => causes)
  }
}

const entryOf = ({ message, logLevel, cause, fiber, date }: Logger.Options<unknown>): Entry => {
  const said = saidIn(message)
  const fields: Record<string, unknown> = {
    ...said.fields,
    ...fiber.getRef(References.CurrentLogAnnotations)
  }
  for (const [label, since] of fiber.getRef(References.CurrentLogSpans))
    fields[`${label}Ms`] = date.getTime() - since
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  if (span !== undefined) {
    fields["traceId"] = span.traceId
    fields["spanId"] = span.spanId
  }
  const causes = [...said.causes, ...(cause.reasons.length > 0 ? [Cause.pretty(cause)] : [])]
  return {
    date,
    level: logLevel.toLowerCase(),
    message: said.words.join(" "),
    fields,
    cause: causes.length > 0 ? causes.join("\n") : undefined
  }
}

/** One JSON object a line; annotations are members of it, and cannot overwrite the standard members. */
const jsonLine = ({ date, level, message, fields, cause }: Entry): string =>
  Formatter.formatJson({
    ...fields,
    timestamp: date.toISOString(),
    level,
    message,
    ...(cause === undefined ? {} : { cause })
  })

const COLOURS: ReadonlyMap<string, number> = new Map([
  ["trace", 90],
  ["debug", 90],
  ["info", 32],
  ["warn", 33],
  ["error", 31],
  ["fatal", 31]
])
const paint = (colour: number, text: string): string => `\u001b[${colour}m${text}\u001b[0m`

/** The entry for people: time, level, message, then the annotations; a cause on separate lines. */
const prettyLine = ({ date, level, message, fields, cause }: Entry): string => {
  const time = paint(90, date.toISOString().slice(11, 23))
  const label = paint(COLOURS.get(level) ?? 0, level.toUpperCase().padEnd(5))
  const rest = Object.entries(fields)
    .filter(([name]) => name !== "traceId" && name !== "spanId")
    .map(
      ([name, value]) =>
        ` ${paint(90, `${name}=`)}${typeof value === "string" ? value : Formatter.formatJson(value)}`
    )
  const below = cause === undefined ? "" : `\n${cause.replace(/^/gm, "  ")}`
  return `${time} ${label} ${message}${rest.join("")}${below}`
}

/** Writes each log entry as one line of JSON, or for a terminal as text. */
export const lineLogger = (sink: LogSink, scrub: Scrub): Logger.Logger<unknown, void> => {
  const format = sink.isTTY === true ? prettyLine : jsonLine
  return Logger.make((options) => {
    sink.write(`${scrub(format(entryOf(options)))}\n`)
  })
}
