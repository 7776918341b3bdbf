import { type Duration, Effect } from "effect"

import { withDeadline } from "../../domain/deadline.ts"

/** Bounds statements in time; whatever goes wrong, the time's end too, is the cause of the caller's own error. */
export const boundedBy =
  <Failed>(duration: Duration.Input & string, failed: (cause: unknown) => Failed) =>
  <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, Failed> =>
    withDeadline(statement, {
      duration,
      onTimeout: () => Effect.fail(`no answer within ${duration}`)
    }).pipe(Effect.mapError(failed))
