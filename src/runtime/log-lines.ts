import { Cause, Context, Formatter, Logger, References, Tracer } from "effect"

import type { Scrub } from "./scrub.ts"

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

const messageOf = (message: unknown): string =>
  (Array.isArray(message) ? message : [message])
    .map((part: unknown) => (typeof part === "string" ? part : Formatter.formatJson(part)))
    .join(" ")

const entryOf = ({ message, logLevel, cause, fiber, date }: Logger.Options<unknown>): Entry => {
  const fields: Record<string, unknown> = { ...fiber.getRef(References.CurrentLogAnnotations) }
  for (const [label, since] of fiber.getRef(References.CurrentLogSpans))
    fields[`${label}Ms`] = date.getTime() - since
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  if (span !== undefined) {
    fields["traceId"] = span.traceId
    fields["spanId"] = span.spanId
  }
  return {
    date,
    level: logLevel.toLowerCase(),
    message: messageOf(message),
    fields,
    cause: cause.reasons.length > 0 ? Cause.pretty(cause) : undefined
  }
}

/** One JSON object a line; annotations are members of it, and cannot take the place of the members that every line has. */
const jsonLine = ({ date, level, message, fields, cause }: Entry): string =>
  Formatter.formatJson({
    ...fields,
    timestamp: date.toISOString(),
    level,
    message,
    ...(cause === undefined ? {} : { cause })
  })

const COLOURS: Readonly<Record<string, number>> = {
  trace: 90,
  debug: 90,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 31
}
const paint = (colour: number, text: string): string => `\u001b[${colour}m${text}\u001b[0m`

/** For people: time, level, message, then the annotations; a cause on lines of its own. */
const prettyLine = ({ date, level, message, fields, cause }: Entry): string => {
  const time = paint(90, date.toISOString().slice(11, 23))
  const label = paint(COLOURS[level] ?? 0, level.toUpperCase().padEnd(5))
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
