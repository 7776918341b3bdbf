import { Cause, Deferred, Duration, Effect, Exit, type Fiber, References, Schedule, Scope } from "effect"
import { uuidV7Unsafe } from "effect/crypto/SecureRandom"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"

import { withDeadline } from "../../../application/deadline.ts"
import { DeferredSend, MAX_RECEIVES } from "../../../domain/mail/deferred-send.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { showConsumer } from "./consumer-lease.ts"

/** How often the consumer checks that the queue still answers and still hands out due messages. */
const WATCH_INTERVAL = "5 seconds"

/** A clock that goes back by less is adjusted, not set; nothing waits noticeably longer. */
const STEP_SECONDS = 2

/** How long the queue may stay without an answer. */
const ANSWER_TIME_LIMIT = "5 seconds"

/** A message that stays due and unclaimed for this long, while a worker is idle, shows that the consumer is stuck. */
const OVERDUE_SECONDS = 10

/** Time limit for returning messages to the queue when the consumer stops. */
const STOP_TIME_LIMIT = "8 seconds"

/** How long a finished message is remembered, so that a late second enqueue of it is still recognised. */
const FINISHED_TIME_TO_LIVE = "1 day"

interface QueueOptions {
  readonly sql: SqlClient.SqlClient
  readonly table: string
  readonly name: string
  readonly visibilitySeconds: number
}

interface DeferConsumerOptions<E, R> extends QueueOptions {
  readonly concurrency: number
  readonly handler: (message: DeferredSend) => Effect.Effect<void, E, R>
}

interface Worker {
  readonly fiber: Fiber.Fiber<void>
  /** Defined while a handler runs; completed when it has ended. */
  readonly handling: () => Deferred.Deferred<void> | undefined
}

const unavailable = (reason: string) => (cause: unknown) =>
  new StoreUnavailable({ operation: "consume", reason, isRetryable: true, cause })

/** A handler that interrupts itself has failed; only an interruption by a shutdown returns its message to the queue. */
const failWhereItInterruptsItself = <E, R>(handler: Effect.Effect<void, E, R>) =>
  Effect.catchCause(handler, (cause) =>
    Cause.hasInterrupts(cause) ? Effect.die(cause) : Effect.failCause(cause)
  )

/** The store warns twice a second while the database is away, in no words; the watchdog says what is wrong. */
const inSilence = Effect.provideService(References.MinimumLogLevel, "Error")

/** Effect's queue store and one queue on it, for as long as the scope is open. */
const openQueue = (options: QueueOptions) =>
  Effect.gen(function* () {
    const visibility = Duration.seconds(options.visibilitySeconds)
    const store = yield* PersistedQueue.makeStoreSql({
      tableName: options.table,
      pollInterval: "1 second",
      lockExpiration: visibility,
      lockRefreshInterval: Duration.divideUnsafe(visibility, 3)
    }).pipe(Effect.provideService(SqlClient.SqlClient, options.sql), inSilence)
    yield* store
      .cleanup({ timeToLive: Duration.fromInputUnsafe(FINISHED_TIME_TO_LIVE), failedTimeToLive: undefined })
      .pipe(
        Effect.catch((cause) =>
          Effect.logWarning(
            "finished messages of the retry queue were not removed: tried again in an hour",
            cause
          )
        ),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    const factory = yield* Effect.provideService(
      PersistedQueue.makeFactory,
      PersistedQueue.PersistedQueueStore,
      store
    )
    return yield* factory.make({
      name: options.name,
      schema: DeferredSend,
      maxAttempts: MAX_RECEIVES,
      retrySchedule: Schedule.spaced(visibility)
    })
  }).pipe(
    // The store dies with a defect where it cannot read its tables.
    Effect.catchCause((cause) =>
      Effect.fail(unavailable("The retry queue cannot be opened")(Cause.squash(cause)))
    )
  )

/** The workers of one consumer. */
interface Team {
  readonly broken: Deferred.Deferred<never, StoreUnavailable>
  draining: boolean
  /** Messages handed out so far. */
  handed: number
}

type Queue = Effect.Success<ReturnType<typeof openQueue>>

/** Takes messages one after another until the team is drained; a message that cannot be settled ends the team. */
const startWorker = <E, R>(
  team: Team,
  queue: Queue,
  handler: DeferConsumerOptions<E, R>["handler"]
): Effect.Effect<Worker, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    let handling: Deferred.Deferred<void> | undefined
    const level = yield* References.MinimumLogLevel
    const next = Effect.gen(function* () {
      let handled: Exit.Exit<void, unknown> | undefined
      const taken = yield* Effect.exit(
        queue
          .take((message) => {
            const ended = Deferred.makeUnsafe<void>()
            handling = ended
            team.handed += 1
            return failWhereItInterruptsItself(handler(message)).pipe(
              Effect.provideService(References.MinimumLogLevel, level),
              Effect.onExit((exit) => {
                handled = exit
                handling = undefined
                return Deferred.succeed(ended, undefined)
              })
            )
          })
          .pipe(inSilence)
      )
      if (Exit.isSuccess(taken)) return
      if (handled !== undefined && Exit.isFailure(handled)) {
        return yield* Effect.logWarning(
          "a queued message was not handled: it comes back, or is dead after its third receive",
          handled.cause
        )
      }
      team.draining = true
      const cause = Cause.squash(taken.cause)
      yield* Deferred.fail(team.broken, unavailable("The retry queue did not settle a message")(cause))
    })
    const fiber = yield* Effect.whileLoop({
      while: () => !team.draining,
      body: () => next,
      step: () => {}
    }).pipe(Effect.forkScoped)
    return { fiber, handling: () => handling }
  })

/**
 * Brings back the times of messages that were written in what is now the future, since the database's clock has gone back: each waits
 * for its delay, counted from now, and no longer. What is held looks as if it were taken now.
 */
const bringBack = ({ name, sql, table }: QueueOptions) =>
  sql`
    UPDATE ${sql(table)}
    SET visible_at = LEAST(visible_at, NOW() + (visible_at - GREATEST(created_at, updated_at))),
      created_at = LEAST(created_at, NOW()), updated_at = LEAST(updated_at, NOW()),
      acquired_at = CASE WHEN acquired_at > NOW() THEN NOW()::timestamp ELSE acquired_at END
    WHERE queue_name = ${name} AND state = 'pending'
    AND GREATEST(created_at, updated_at, acquired_at) > NOW() + ${STEP_SECONDS}::int * INTERVAL '1 second'
  `

/** Whether a message stays due and unclaimed. */
const overdue = (options: QueueOptions) => {
  const { name, sql, table, visibilitySeconds } = options
  return withDeadline(
    Effect.andThen(
      bringBack(options),
      sql`
      SELECT 1 FROM ${sql(table)}
      WHERE queue_name = ${name} AND state = 'pending' AND attempts < ${MAX_RECEIVES}
      AND visible_at < NOW() - ${OVERDUE_SECONDS}::int * INTERVAL '1 second'
      AND (acquired_at IS NULL OR acquired_at < NOW() - ${visibilitySeconds + OVERDUE_SECONDS}::int * INTERVAL '1 second')
      LIMIT 1
    `
    ).pipe(
      Effect.retry(Schedule.spaced("500 millis")),
      Effect.map((rows) => rows.length > 0),
      Effect.mapError(unavailable("The retry queue does not answer"))
    ),
    {
      duration: ANSWER_TIME_LIMIT,
      onTimeout: () => Effect.fail(unavailable("The retry queue does not answer")(undefined))
    }
  )
}

/** Fails when the queue does not answer, or hands out nothing although something is due and a worker is idle. */
const watch = Effect.fnUntraced(function* (
  team: Team,
  workers: ReadonlyArray<Worker>,
  isOverdue: Effect.Effect<boolean, StoreUnavailable>
): Effect.fn.Return<never, StoreUnavailable> {
  let strikes = 0
  let before = team.handed
  while (true) {
    yield* Effect.sleep(WATCH_INTERVAL)
    const late =
      (yield* isOverdue) &&
      team.handed === before &&
      workers.some((worker) => worker.handling() === undefined)
    strikes = late ? strikes + 1 : 0
    if (strikes > 1) return yield* unavailable("The retry queue hands nothing out")(undefined)
    before = team.handed
  }
})

/** Ends the idle workers, and waits for the messages under way. */
const drain = (team: Team, workers: ReadonlyArray<Worker>) =>
  Effect.suspend(() => {
    team.draining = true
    return Effect.forEach(
      workers,
      ({ fiber, handling }) =>
        Effect.suspend(() => {
          const ended = handling()
          return ended === undefined ? Effect.sync(() => fiber.interruptUnsafe()) : Deferred.await(ended)
        }),
      { concurrency: "unbounded", discard: true }
    )
  })

/**
 * Runs the workers and a watchdog. Fails when the queue does not answer for five seconds, hands out nothing
 * although something is due, or does not accept a settlement; messages under way are finished first.
 */
const run = <E, R>(options: DeferConsumerOptions<E, R>) =>
  Effect.gen(function* () {
    const queue = yield* withDeadline(openQueue(options), {
      duration: ANSWER_TIME_LIMIT,
      onTimeout: () => Effect.fail(unavailable("The retry queue took too long to open")(undefined))
    })
    yield* showConsumer(options.sql, options.name, uuidV7Unsafe())
    const team: Team = {
      broken: yield* Deferred.make<never, StoreUnavailable>(),
      draining: false,
      handed: 0
    }
    const workers = yield* Effect.forEach(Array.from({ length: options.concurrency }), () =>
      startWorker(team, queue, options.handler)
    )
    return yield* Effect.raceFirst(watch(team, workers, overdue(options)), Deferred.await(team.broken)).pipe(
      // A queue that no longer answers is no reason to interrupt the messages under way. The shutdown settles them.
      Effect.tapError(() => drain(team, workers))
    )
  })

/** Runs for ever. Stopping it returns the messages it holds to the queue, if the queue accepts them within eight seconds. */
export const consumeDeferred = <E, R>(
  options: DeferConsumerOptions<E, R>
): Effect.Effect<never, StoreUnavailable, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make("parallel")
      const exit = yield* Effect.exit(restore(Scope.provide(run(options), scope)))
      yield* withDeadline(Scope.close(scope, exit), {
        duration: STOP_TIME_LIMIT,
        onTimeout: () =>
          Effect.logWarning("messages were not handed back in time: they come back after the visibility time")
      })
      return yield* exit
    })
  )
