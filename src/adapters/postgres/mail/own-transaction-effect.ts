import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

import type { QueueState } from "../../../domain/mail/queue.ts"
import type {
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../../../domain/mail/send-result.ts"
import {
  CANCEL,
  ENQUEUE,
  type Enqueued,
  type EnqueueRequest,
  refusedAs,
  requestText
} from "./own-transaction.ts"

/** `enqueueEmail` for Effect code: in the transaction of `SqlClient` (`sql.withTransaction`) where one is open. */
export const enqueueEmailEffect = (
  request: EnqueueRequest
): Effect.Effect<
  Enqueued,
  InvalidRequest | IdempotencyConflict | IdempotencyInProgress | SqlError,
  SqlClient.SqlClient
> =>
  SqlClient.SqlClient.use((sql) =>
    sql.unsafe<{ readonly answer: string }>(ENQUEUE, [requestText(request)])
  ).pipe(
    Effect.map(([row]) => ({ queueId: row?.answer ?? "" })),
    Effect.mapError((error) => refusedAs(request, error.reason.cause) ?? error)
  )

/** `cancelEmail` for Effect code. */
export const cancelEmailEffect = (
  queueId: string
): Effect.Effect<QueueState | undefined, SqlError, SqlClient.SqlClient> =>
  Effect.map(
    SqlClient.SqlClient.use((sql) => sql.unsafe<{ readonly answer: QueueState | null }>(CANCEL, [queueId])),
    ([row]) => row?.answer ?? undefined
  )
