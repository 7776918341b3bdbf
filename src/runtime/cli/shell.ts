import { userInfo } from "node:os"

import { Context, Layer, Console, Data, Effect, type PlatformError } from "effect"
import { GlobalFlag, Flag } from "effect/cli"

import type { Env } from "../settings/settings.ts"

/** The environment that commands run in: everything that they know of it. */
export class Shell extends Context.Service<
  Shell,
  {
    readonly env: Env
    /** Width of the terminal, in columns; `undefined` when the output is not a terminal. */
    readonly columns: number | undefined
    /** Whether colours may be used. */
    readonly colours: boolean
    /** The operating system user who runs the command; recorded in audit rows. */
    readonly user: string
    /** Writes to the terminal past the output, for a line that changes; absent when the error output is not a terminal. */
    readonly status?: ((text: string) => void) | undefined
  }
>()("postlane/runtime/cli/Shell") {}

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A process in a container may run under an id without a name.
    return `uid-${process.getuid?.() ?? "unknown"}`
  }
}

/** The process's own surroundings. `NO_COLOR` (no-color.org) is honoured. */
export const layerProcess: Layer.Layer<Shell> = Layer.sync(Shell, () => ({
  env: process.env,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  colours: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  user: userName(),
  status: process.stderr.isTTY ? (text) => void process.stderr.write(text) : undefined
}))

/** `--json`, of every command. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one JSON document instead of text"),
    Flag.withDefault(false)
  )
})

/** The command failed. `message` says why, and what to do; it holds no secret. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}

/** The command has printed a negative result: the process ends with code 1. */
export class EndedBadly extends Data.TaggedError("EndedBadly")<Readonly<Record<never, never>>> {}

/** What every command may end in. */
type CommandError = CommandFailed | EndedBadly

/**
 * Prints a result: the document under `--json`, else the text. With a `problem` the result is negative: the problem goes to the error
 * output, unless the document says it, and the command ends badly.
 */
export const print = Effect.fnUntraced(function* (result: {
  readonly json: unknown
  readonly text: string
  readonly problem?: string | undefined
}) {
  const json = yield* Json
  if (json) yield* Console.log(JSON.stringify(result.json, null, 2))
  else if (result.text !== "") yield* Console.log(result.text)
  if (result.problem === undefined) return
  if (!json) yield* Console.error(result.problem)
  return yield* new EndedBadly()
})

/** Prints a failure: under `--json` as the one document on the output, else on the error output. */
export const telling = <A, R>(command: Effect.Effect<A, CommandError, R>) =>
  Effect.catchTag(
    command,
    "CommandFailed",
    Effect.fnUntraced(function* ({ message }) {
      if (yield* Json) yield* Console.log(JSON.stringify({ ok: false, error: message }, null, 2))
      else yield* Console.error(message)
      return yield* new EndedBadly()
    })
  )

const REASONS: ReadonlyMap<string, string> = new Map([
  ["AlreadyExists", "something of that name is there already"],
  ["Busy", "another program holds it"],
  ["NotFound", "there is nothing of that name"],
  ["PermissionDenied", "this user is not allowed to"],
  ["TimedOut", "it did not answer in time"]
])

/** Why a file could not be read or written, in words; the system's message for a reason without words here. */
export const whyNot = ({ message, reason }: PlatformError.PlatformError): string => {
  const { cause } = reason
  return REASONS.get(reason._tag) ?? (cause instanceof Error ? cause.message : message)
}
