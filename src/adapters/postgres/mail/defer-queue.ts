import { Effect, Layer, Option, Schedule, Schema } from "effect"

import { withDeadline } from "../../../domain/deadline.ts"
import { decodeDeferredSend, encodeDeferredSend } from "../../../domain/mail/deferred-send.ts"
import { type DeadLetter, DeferQueue, tooLargeToQueue } from "../../../ports/mail/defer-queue.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { WriteSql } from "../client.ts"
import { consumeDeferred } from "./defer-consumer.ts"

/** The queue's table; its columns are those of Effect's SQL queue store, which the consumer runs on. */
const TABLE = "email_defer_queue"

/** Time limit of a call, including its retries. */
const CALL_TIME_LIMIT = "5 seconds"

/** Longest part of a failure's text that a dead letter shows. */
const MAX_REASON_LENGTH = 500

/** The NAME of `postgres:NAME`: several queues can share one database. */
export const QueueName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)).pipe(
  Schema.brand("QueueName")
)
export type QueueName = typeof QueueName.Type

export interface PostgresDeferQueueOptions {
  readonly name: QueueName
  /** Whole seconds that a received message stays hidden unless its consumer extends it. */
  readonly visibilitySeconds: number
}

interface DeadRow {
  readonly id: string
  readonly died_at: string
  readonly attempts: number
  readonly reason: string | null
  readonly element: string
}

const toDeadLetter = (row: DeadRow): DeadLetter => ({
  id: row.id,
  diedAt: row.died_at,
  receives: row.attempts,
  reason: row.reason,
  message: Option.getOrNull(decodeDeferredSend(row.element))
})

const make = ({ name, visibilitySeconds }: PostgresDeferQueueOptions) =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const table = sql(TABLE)

    const call = <A>(
      operation: string,
      statement: Effect.Effect<A, unknown>
    ): Effect.Effect<A, StoreUnavailable> =>
      withDeadline(
        Effect.mapError(
          statement,
          (cause) =>
            new StoreUnavailable({
              operation,
              reason: `The retry queue failed to ${operation}`,
              isRetryable: true,
              cause
            })
        ),
        {
          duration: CALL_TIME_LIMIT,
          onTimeout: () =>
            Effect.fail(
              new StoreUnavailable({
                operation,
                reason: `The retry queue took too long to ${operation}`,
                isRetryable: true
              })
            )
        }
      )

    return DeferQueue.of({
      configured: true,
      // The statement of the store's own `offer`: a process that only enqueues needs none of the store's fibers, and can start
      // before the database does. There is one message per row, so that the statement can be repeated.
      enqueue: Effect.fn("PostgresDeferQueue.enqueue")(function* (message, delaySeconds) {
        const body = encodeDeferredSend(message)
        if (Option.isNone(body)) {
          return yield* tooLargeToQueue()
        }
        const delay = Math.max(0, Math.ceil(delaySeconds))
        yield* call(
          "enqueue",
          sql`
            INSERT INTO ${table} (id, queue_name, element, state, attempts, visible_at, created_at, updated_at)
            VALUES (${message.rowId}, ${name}, ${body.value}, 'pending', 0,
              clock_timestamp() + ${delay}::int * INTERVAL '1 second', NOW(), NOW())
            ON CONFLICT (id, queue_name) DO NOTHING
          `.pipe(Effect.retry({ times: 2, schedule: Schedule.spaced("200 millis") }))
        )
      }),
      consume: (handler, { concurrency }) =>
        consumeDeferred({ sql, table: TABLE, name, visibilitySeconds, concurrency, handler }),
      deadLetters: ({ limit }) =>
        call(
          "list its dead letters",
          sql<DeadRow>`
            SELECT id, attempts, LEFT(last_failure, ${MAX_REASON_LENGTH}::int) AS reason, element,
              to_char(updated_at::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS died_at
            FROM ${table}
            WHERE queue_name = ${name} AND state = 'failed'
            ORDER BY updated_at DESC, sequence DESC
            LIMIT ${limit}::int
          `
        ).pipe(
          Effect.map((rows) => rows.map(toDeadLetter)),
          Effect.withSpan("PostgresDeferQueue.deadLetters")
        ),
      redrive: (id) =>
        call(
          "redrive a dead letter",
          sql`
            UPDATE ${table}
            SET state = 'pending', attempts = 0, visible_at = NOW(), updated_at = NOW(), last_failure = NULL,
              acquired_at = NULL, acquired_by = NULL
            WHERE queue_name = ${name} AND id = ${id} AND state = 'failed'
            RETURNING id
          `
        ).pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.withSpan("PostgresDeferQueue.redrive")
        ),
      check: Effect.asVoid(call("answer", sql`SELECT FROM ${table} LIMIT 1`))
    })
  })

/**
 * The retry queue in PostgreSQL, on Effect's SQL queue store: at least once, on the database's clock. There is one message
 * per row, and a second enqueue is ignored until a day after it was finished. A message whose third handler fails is a
 * dead letter at once. A shutdown uses up none of a message's three receives. Building the layer does not query the database.
 */
export const layer = (options: PostgresDeferQueueOptions): Layer.Layer<DeferQueue, never, WriteSql> =>
  Layer.effect(DeferQueue, make(options))
