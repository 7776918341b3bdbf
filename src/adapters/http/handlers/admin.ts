import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { type DeadLetter, DeferQueue } from "../../../ports/defer-queue.ts"
import { EmailLogQuery } from "../../../ports/email-log-query.ts"
import { Api } from "../api/api.ts"
import { DEFAULT_PAGE } from "../api/query.ts"
import { invalidCursor, problem } from "../problem.ts"

/** A dead letter without the message's content: who, what and why, not the mail itself. */
const shown = ({ id, diedAt, receives, reason, message }: DeadLetter) => ({
  id,
  diedAt,
  receives,
  reason,
  idempotencyKey: message?.details.idempotencyKey ?? null,
  provider: message?.request.provider ?? null,
  to: message?.details.to ?? null,
  subject: message?.details.subject ?? null
})

const unavailable = (what: string, cause: unknown) =>
  Effect.logWarning(`${what} does not answer`, cause).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", `${what} does not answer now`)))
  )

/** Admin reads of the send log, and the dead letters of the retry queue. */
export const adminHandlers = HttpApiBuilder.group(
  Api,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* EmailLogQuery
    const queue = yield* DeferQueue
    return handlers.handleAll({
      emailLog: ({ query }) =>
        log
          .page({
            status: query.status || undefined,
            category: query.category || undefined,
            provider: query.provider || undefined,
            recipient: query.recipient || undefined,
            subject: query.subject || undefined,
            cursor: query.cursor || undefined,
            limit: query.limit || DEFAULT_PAGE
          })
          .pipe(
            Effect.catchTags({
              EmailLogUnavailable: ({ cause }) => unavailable("The send log", cause),
              InvalidCursor: () => invalidCursor("log")
            })
          ),
      deadLetters: ({ query }) =>
        queue.deadLetters({ limit: query.limit || DEFAULT_PAGE }).pipe(
          Effect.map((letters) => ({ deadLetters: letters.map(shown) })),
          Effect.catch((error) => unavailable("The retry queue", error))
        ),
      redrive: Effect.fnUntraced(function* ({ params: { id } }) {
        const found = yield* queue
          .redrive(id)
          .pipe(Effect.catch((error) => unavailable("The retry queue", error)))
        if (!found) return yield* Effect.fail(problem("NOT_FOUND", "There is no dead letter of this id"))
        return { id, redriven: true as const }
      })
    })
  })
)
