import { Cause, Data, Console, Effect, Exit, Runtime } from "effect"

/** What may be reported of a crash: the error, its message, where it happened. */
interface CrashReport {
  /** One line for `/ready` and for the log. */
  readonly summary: string
  /** The places in the code, without the errors' texts. */
  readonly stack: string
}

const SUMMARY_CHARACTERS_MAX = 300

/** Errors that quote the refused value, which can be a message or an address. */
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

/** The program cannot start. The message says what is wrong and what to do. */
export class CannotStart extends Data.TaggedError("CannotStart")<{
  readonly message: string
  /** Where the same start may succeed later. */
  readonly mayPass?: boolean
  /** Where nothing answered: it may come later. */
  readonly isAway?: boolean
}> {}

/**
 * Ends the process with code 1 and a plain message where it cannot start; a defect keeps its stack. With `json` the output gets a
 * document that says so.
 */
export const endWithWords = <A, E extends { readonly message: string }, R>(
  program: Effect.Effect<A, E | CannotStart, R>,
  options: { readonly json?: boolean } = {}
): Effect.Effect<A, E | CannotStart, R> =>
  Effect.tapCause(program, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const failure = Cause.findErrorOption(cause)
    const said = Console.error(
      failure._tag === "Some" ? `\nPostlane cannot start. ${failure.value.message}\n` : Cause.pretty(cause)
    )
    if (options.json !== true) return said
    const error = failure._tag === "Some" ? failure.value.message : "It broke off: see the error output"
    return Effect.andThen(said, Console.log(JSON.stringify({ ok: false, error })))
  })

/** A requested stop (SIGTERM, SIGINT) exits with 0 once everything is closed; a failed start exits with 1. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    ? onExit(0)
    : Runtime.defaultTeardown(exit, onExit)
