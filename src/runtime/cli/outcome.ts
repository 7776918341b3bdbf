import { Console, Data, Effect } from "effect"

import { Json } from "./shell.ts"

/** The command could not do what it was asked for. `message` tells why, and what to do; it holds no secret. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}

/** The command has printed its result, which is not a good one: the process ends with code 1. */
export class EndedBadly extends Data.TaggedError("EndedBadly")<Readonly<Record<never, never>>> {}

/** What every command may end in. */
export type CommandError = CommandFailed | EndedBadly

/** Prints a result: the document under `--json`, else the text. */
export const print = Effect.fnUntraced(function* (result: { readonly json: unknown; readonly text: string }) {
  yield* Console.log((yield* Json) ? JSON.stringify(result.json, null, 2) : result.text)
})

/** Tells a failure: under `--json` as the one document on the output, else on the error output. */
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
