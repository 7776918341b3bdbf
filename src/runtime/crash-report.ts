import { Cause } from "effect"

/** What may be told of a crash: which error, what it says, where it happened. */
export interface CrashReport {
  /** One line for `/ready` and for the log. */
  readonly summary: string
  /** The places in the code, without the errors' texts. */
  readonly stack: string
}

const SUMMARY_CHARACTERS_MAX = 300

/** Errors whose text quotes the value that was refused, which can be a message or an address. */
const QUOTES_ITS_INPUT = new Set(["SchemaError", "ParseError", "SyntaxError"])

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return "a value that is no error"
  const text = QUOTES_ITS_INPUT.has(error.name) ? "" : error.message.replaceAll(/\s+/g, " ").trim()
  return text === "" ? error.name : `${error.name}: ${text}`
}

const places = (error: unknown): string =>
  error instanceof Error
    ? (error.stack ?? "")
        .split("\n")
        .filter((line) => /^\s+at /.test(line))
        .join("\n")
    : ""

/**
 * Describes a crash without the content of messages: of every error its name and its own text, cut to one short line, never
 * what it carries along (causes, rows, requests), and no text at all where errors of that kind quote their input.
 */
export const describeCrash = (cause: Cause.Cause<unknown>): CrashReport => {
  const errors = cause.reasons.flatMap((reason) => {
    if (Cause.isFailReason(reason)) return [reason.error]
    return Cause.isDieReason(reason) ? [reason.defect] : []
  })
  const summary = errors.length === 0 ? "It was interrupted from inside" : errors.map(describe).join("; ")
  return {
    summary: summary.slice(0, SUMMARY_CHARACTERS_MAX),
    stack: errors.map(places).join("\n")
  }
}
