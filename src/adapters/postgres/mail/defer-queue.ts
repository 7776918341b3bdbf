import { Effect, Layer, Option, Schedule, Schema } from "effect"

import {
  decodeDeferredSend,
  type DeferredSend,
  encodeDeferredSend
} from "../../../domain/mail/deferred-send.ts"
import { type DeadLetter, DeferQueue, tooLargeToQueue } from "../../../ports/mail/defer-queue.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { storable, TextOrNull } from "../values.ts"
import { hasConsumer } from "./consumer-lease.ts"
import { consumeDeferred } from "./defer-consumer.ts"

/** The queue's table; its columns are those of Effect's SQL queue store, which the consumer runs on. */
const TABLE = "email_defer_queue"

/** Time limit of a call, including its retries. */
const ask = statements({ within: "5 seconds" })

/** Longest part of a failure's text that a dead letter shows. */
const MAX_REASON_LENGTH = 500

/** The NAME of `postgres:NAME`: several queues can share one database. */
export const QueueName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)).pipe(
  Schema.brand("QueueName")
)
export type QueueName = typeof QueueName.Type

interface PostgresDeferQueueOptions {
  readonly name: QueueName
  /** Whole seconds that a received message stays hidden unless its consumer extends it. */
  readonly visibilitySeconds: number
}

const DeadRow = Schema.Struct({
  id: Schema.String,
  diedAt: Schema.String,
  receives: Schema.Int,
  reason: TextOrNull,
  element: Schema.String
})

const DeadElement = Schema.Struct({ element: Schema.String })

const toDeadLetter = ({ element, ...row }: typeof DeadRow.Type): DeadLetter => ({
  ...row,
  message: Option.getOrNull(decodeDeferredSend(element))
})

/** The queue's error: its reason also reaches the caller of a send that could not be deferred. */
const call = <A>(operation: string, answer: Effect.Effect<A, StoreUnavailable>) =>
  Effect.mapError(
    answer,
    ({ cause, isRetryable }) =>
      new StoreUnavailable({
        operation,
        reason: `The retry queue ${cause === undefined ? "took too long" : "failed"} to ${operation}`,
        isRetryable,
        cause
      })
  )

type Sql = WriteSql["Service"]

/**
 * The statement of the store's own `offer`: a process that only enqueues needs none of the store's fibers, and can start
 * before the database does. There is one message per row, so that the statement can be repeated.
 */
const enqueue = Effect.fn("PostgresDeferQueue.enqueue")(function* (
  sql: Sql,
  name: QueueName,
  message: DeferredSend,
  delaySeconds: number
) {
  const body = encodeDeferredSend(message)
  if (Option.isNone(body)) return yield* tooLargeToQueue()
  const delay = Math.max(0, Math.ceil(delaySeconds))
  yield* call(
    "enqueue",
    ask.done(
      "enqueue",
      sql`
        INSERT INTO ${sql(TABLE)} (id, queue_name, element, state, attempts, visible_at, created_at, updated_at)
        VALUES (${message.rowId}, ${name}, ${body.value}, 'pending', 0,
          clock_timestamp() + ${delay}::int * INTERVAL '1 second', NOW(), NOW())
        ON CONFLICT (id, queue_name) DO NOTHING
      `.pipe(Effect.retry({ times: 2, schedule: Schedule.spaced("200 millis") }))
    )
  )
})

/**
 * Releases the message, so that the lease under which it is held settles nothing any more. Also where the queue took its holder for
 * dead meanwhile: the process that puts it back is alive.
 */
const putBack = Effect.fn("PostgresDeferQueue.putBack")(function* (
  sql: Sql,
  name: QueueName,
  { rowId }: DeferredSend,
  delaySeconds: number
) {
  yield* call(
    "put a message back",
    ask.done(
      "putBack",
      sql`
        UPDATE ${sql(TABLE)}
        SET state = 'pending', attempts = GREATEST(attempts - 1, 0), acquired_at = NULL, acquired_by = NULL, updated_at = NOW(),
          visible_at = clock_timestamp() + ${Math.max(0, Math.ceil(delaySeconds))}::int * INTERVAL '1 second'
        WHERE queue_name = ${name} AND id = ${rowId} AND state <> 'completed'
      `
    )
  )
})

const deadLetters = Effect.fnUntraced(function* (sql: Sql, name: QueueName, limit: number) {
  const rows = yield* call(
    "list its dead letters",
    ask.rows(
      "deadLetters",
      DeadRow,
      sql`
        SELECT id, attempts AS receives, LEFT(last_failure, ${MAX_REASON_LENGTH}::int) AS reason, element,
          to_char(updated_at::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS died_at
        FROM ${sql(TABLE)}
        WHERE queue_name = ${name} AND state = 'failed'
        ORDER BY updated_at DESC, sequence DESC
        LIMIT ${limit}::int
      `
    )
  )
  return rows.map(toDeadLetter)
})

const redrive = Effect.fn("PostgresDeferQueue.redrive")(function* (sql: Sql, name: QueueName, id: string) {
  const redriven = yield* call(
    "redrive a dead letter",
    ask.stored(
      "redrive",
      sql`
        UPDATE ${sql(TABLE)}
        SET state = 'pending', attempts = 0, visible_at = NOW(), updated_at = NOW(), last_failure = NULL,
          acquired_at = NULL, acquired_by = NULL
        WHERE queue_name = ${name} AND id = ${storable(id)} AND state = 'failed'
        RETURNING id
      `
    )
  )
  return redriven.length > 0
})

const removeUnreadable = Effect.fn("PostgresDeferQueue.removeUnreadable")(function* (
  sql: Sql,
  name: QueueName,
  id: string
) {
  const dead = sql`queue_name = ${name} AND id = ${storable(id)} AND state = 'failed'`
  const [found] = yield* call(
    "read a dead letter",
    ask.rows("deadLetter", DeadElement, sql`SELECT element FROM ${sql(TABLE)} WHERE ${dead}`)
  )
  if (found === undefined || Option.isSome(decodeDeferredSend(found.element))) return false
  const removed = yield* call(
    "remove a dead letter",
    ask.stored("removeUnreadable", sql`DELETE FROM ${sql(TABLE)} WHERE ${dead} RETURNING id`)
  )
  return removed.length > 0
})

const make = ({ name, visibilitySeconds }: PostgresDeferQueueOptions) =>
  Effect.map(WriteSql, (sql) =>
    DeferQueue.of({
      configured: true,
      enqueue: (message, delaySeconds) => enqueue(sql, name, message, delaySeconds),
      putBack: (message, delaySeconds) => putBack(sql, name, message, delaySeconds),
      consume: (handler, { concurrency }) =>
        consumeDeferred({ sql, table: TABLE, name, visibilitySeconds, concurrency, handler }),
      isConsumed: call("say whether it is consumed", hasConsumer(sql, name)),
      deadLetters: ({ limit }) => deadLetters(sql, name, limit),
      redrive: (id) => redrive(sql, name, id),
      removeUnreadable: (id) => removeUnreadable(sql, name, id),
      check: call("answer", ask.done("check", sql`SELECT FROM ${sql(TABLE)} LIMIT 1`))
    })
  )

/**
 * The retry queue in PostgreSQL, on Effect's SQL queue store: at least once, on the database's clock. There is one message
 * per row, and a second enqueue is ignored until a day after it was finished. A message is a dead letter as soon as its third
 * handler fails. A shutdown uses up none of a message's three receives. Building the layer does not query the database.
 */
export const layer = (options: PostgresDeferQueueOptions): Layer.Layer<DeferQueue, never, WriteSql> =>
  Layer.effect(DeferQueue, make(options))
