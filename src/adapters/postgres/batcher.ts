import { Cause, Effect, Exit, Fiber, type Scope } from "effect"

import { withDeadline } from "../../domain/deadline.ts"

/** How calls are batched. */
interface BatcherOptions<In, Out, E> {
  /** One call for all items; returns one exit per item, in their order. */
  readonly run: (items: ReadonlyArray<In>) => Effect.Effect<ReadonlyArray<Exit.Exit<Out, E>>, E>
  /** Whether one item made the batch fail: its halves are then tried, down to the single item. */
  readonly isAboutItem: (error: E) => boolean
  /** The error of a call that finds {@link BatcherOptions.capacity} items waiting. */
  readonly onOverflow: () => E
  readonly concurrency?: number
  readonly maxBatch?: number
  readonly capacity?: number
}

const CONCURRENCY = 2
const MAX_BATCH = 200
const CAPACITY = 10_000
/** Longest that a free slot waits for a batch as large as the calls under way, milliseconds. */
const PATIENCE_MS = 5
/** How long a shutdown waits for the submitted items. */
const DRAIN_TIME = "5 seconds"

interface Waiting<In, Out, E> {
  readonly item: In
  readonly resume: (exit: Exit.Exit<Out, E>) => void
}

/**
 * Natural batching ("group commit"): all items waiting when a slot frees go out as one call. Nothing waits while no call is
 * under way, so that a lone item is not slowed. While one is, another goes out once it holds as many items, or after
 * {@link PATIENCE_MS}: most of the cost of a call does not depend on the number of items. A submitted item runs to its
 * end even if its caller stops waiting.
 */
export const makeBatcher = <In, Out, E>(
  options: BatcherOptions<In, Out, E>
): Effect.Effect<(item: In) => Effect.Effect<Out, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const concurrency = options.concurrency ?? CONCURRENCY
    const maxBatch = options.maxBatch ?? MAX_BATCH
    const capacity = options.capacity ?? CAPACITY
    const runFork = Effect.runForkWith(yield* Effect.context())
    const running = new Set<Fiber.Fiber<void>>()
    let waiting: Array<Waiting<In, Out, E>> = []
    let scheduled = false
    /** Items of the calls under way. */
    let underWay = 0
    let patient = false

    const answer = (batch: ReadonlyArray<Waiting<In, Out, E>>): Effect.Effect<void> =>
      Effect.matchCauseEffect(
        Effect.suspend(() => options.run(batch.map(({ item }) => item))),
        {
          onSuccess: (exits) =>
            Effect.sync(() => {
              for (const [index, { resume }] of batch.entries()) {
                resume(
                  exits[index] ?? Exit.die(new Error("a batch answered fewer items than it was asked for"))
                )
              }
            }),
          onFailure: (cause) => {
            const error = Cause.findErrorOption(cause)
            if (batch.length > 1 && error._tag === "Some" && options.isAboutItem(error.value)) {
              const half = batch.length >> 1
              return Effect.andThen(answer(batch.slice(0, half)), answer(batch.slice(half)))
            }
            const exit = Exit.failCause(cause)
            return Effect.sync(() => {
              for (const { resume } of batch) resume(exit)
            })
          }
        }
      )

    const take = () => {
      const batch = waiting.length <= maxBatch ? waiting : waiting.slice(0, maxBatch)
      waiting = waiting.length <= maxBatch ? [] : waiting.slice(maxBatch)
      underWay += batch.length
      const fiber = runFork(answer(batch))
      running.add(fiber)
      fiber.addObserver(() => {
        running.delete(fiber)
        underWay -= batch.length
        start()
      })
    }

    const startAll = () => {
      while (running.size < concurrency && waiting.length > 0) take()
    }

    const isWorthACall = () => waiting.length >= Math.min(underWay, maxBatch)

    const start = () => {
      scheduled = false
      while (running.size < concurrency && waiting.length > 0 && isWorthACall()) take()
      if (running.size < concurrency && waiting.length > 0 && !patient) {
        patient = true
        runFork(startLater)
      }
    }

    const startLater = Effect.andThen(
      Effect.sleep(PATIENCE_MS),
      Effect.sync(() => {
        patient = false
        startAll()
      })
    )

    // After the fibers that this turn of the event loop wakes: items that arrive together go out together.
    const startSoon = Effect.andThen(Effect.yieldNow, Effect.sync(start))

    const idle: Effect.Effect<void> = Effect.suspend(() => {
      startAll()
      return running.size === 0 ? Effect.void : Effect.andThen(Fiber.awaitAll([...running]), idle)
    })
    yield* Effect.addFinalizer(() =>
      withDeadline(idle, {
        duration: DRAIN_TIME,
        onTimeout: () => Effect.suspend(() => Fiber.interruptAll([...running]))
      })
    )

    return (item) =>
      Effect.callback<Out, E>((resume) => {
        if (waiting.length >= capacity) return resume(Effect.fail(options.onOverflow()))
        waiting.push({ item, resume })
        if (!scheduled && running.size < concurrency && (!patient || isWorthACall())) {
          scheduled = true
          runFork(startSoon)
        }
      })
  })
