import { Cause, Console, Effect, Exit, Runtime } from "effect"

import { type CannotStart } from "./exit.ts"

/** Ends the process with code 1 and plain words where it cannot start; a defect keeps its stack. */
export const endWithWords = <A, E extends { readonly message: string }, R>(
  program: Effect.Effect<A, E | CannotStart, R>
): Effect.Effect<A, E | CannotStart, R> =>
  Effect.tapCause(program, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const failure = Cause.findErrorOption(cause)
    return Console.error(
      failure._tag === "Some" ? `\nPostlane cannot start. ${failure.value.message}\n` : Cause.pretty(cause)
    )
  })

/** A stop that was asked for (SIGTERM, SIGINT) has gone well once everything is closed: code 0. A start that failed: 1. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    ? onExit(0)
    : Runtime.defaultTeardown(exit, onExit)
