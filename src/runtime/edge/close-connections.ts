import { Effect, Exit, Scope } from "effect"

import { withDeadline } from "../../application/deadline.ts"

/** How long an answer waits for its connections to close. */
const CLOSE_TIME_LIMIT = "1 second"

/** Closes the connections of one invocation, which no other can use. Never fails, and gives up after a time limit. */
export const closeConnections = (scope: Scope.Closeable): Effect.Effect<void> =>
  withDeadline(Scope.close(scope, Exit.void), {
    duration: CLOSE_TIME_LIMIT,
    onTimeout: () => Effect.void
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning("connections were not closed: the runtime ends them with the invocation", cause)
    )
  )
