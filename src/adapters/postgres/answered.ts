import { Effect } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"

import { withDeadline } from "../../domain/deadline.ts"

/** Longer than any caller and any lock waits, shorter than the server's own limit of a statement. */
const ANSWER_TIME_LIMIT = "8 seconds"

/**
 * The statement, failed as a lost connection where no answer comes. A peer that is gone without a word (a fail-over, a
 * firewall that forgot the connection) is noticed by the system after some fifteen minutes only; until then whoever waits
 * for that connection would wait. Given up, its connection is replaced.
 */
export const answered = <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
  withDeadline(statement, {
    duration: ANSWER_TIME_LIMIT,
    onTimeout: () =>
      Effect.fail(
        new SqlError({
          reason: new ConnectionError({
            cause: new Error(`no answer within ${ANSWER_TIME_LIMIT}`),
            message: `The database gave no answer within ${ANSWER_TIME_LIMIT}`
          })
        })
      )
  })
