import { Cause, Context, Effect, Exit, Fiber, type Scope, Tracer } from "effect"

import { withDeadline } from "../../application/deadline.ts"

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
  /** The caller's, where there is one. */
  readonly span: Tracer.AnySpan | undefined
  readonly resume: (exit: Exit.Exit<Out, E>) => void
}

interface State<In, Out, E> extends Required<BatcherOptions<In, Out, E>> {
  readonly fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly running: Set<Fiber.Fiber<void>>
  waiting: Array<Waiting<In, Out, E>>
  scheduled: boolean
  /** Items of the calls under way. */
  underWay: number
  patient: boolean
}

/** The spans of a call stand below its first caller's; they link to those of the others. */
const below = <A, E>(
  call: Effect.Effect<A, E>,
  batch: ReadonlyArray<Pick<Waiting<never, never, never>, "span">>
) => {
  const [first, ...others] = new Set(batch.flatMap(({ span }) => (span === undefined ? [] : [span])))
  if (first === undefined) return call
  const linked = others.length === 0 ? call : Effect.linkSpans(call, others)
  return Effect.provideService(linked, Tracer.ParentSpan, first)
}

/** Calls for a batch and gives each of its items its exit. */
const answer = <In, Out, E>(
  state: State<In, Out, E>,
  batch: ReadonlyArray<Waiting<In, Out, E>>
): Effect.Effect<void> =>
  Effect.matchCauseEffect(
    below(
      Effect.suspend(() => state.run(batch.map(({ item }) => item))),
      batch
    ),
    {
      onSuccess: (exits) =>
        Effect.sync(() => {
          for (const [index, { resume }] of batch.entries()) {
            resume(exits[index] ?? Exit.die(new Error("a batch answered fewer items than it was asked for")))
          }
        }),
      onFailure: (cause) => {
        const error = Cause.findErrorOption(cause)
        if (batch.length > 1 && error._tag === "Some" && state.isAboutItem(error.value)) {
          const half = batch.length >> 1
          return Effect.andThen(answer(state, batch.slice(0, half)), answer(state, batch.slice(half)))
        }
        const exit = Exit.failCause(cause)
        return Effect.sync(() => {
          for (const { resume } of batch) resume(exit)
        })
      }
    }
  )

/** Sends out what waits, as one call. */
const take = <In, Out, E>(state: State<In, Out, E>) => {
  const { maxBatch, running, waiting } = state
  const batch = waiting.length <= maxBatch ? waiting : waiting.slice(0, maxBatch)
  state.waiting = waiting.length <= maxBatch ? [] : waiting.slice(maxBatch)
  state.underWay += batch.length
  const fiber = state.fork(answer(state, batch))
  running.add(fiber)
  fiber.addObserver(() => {
    running.delete(fiber)
    state.underWay -= batch.length
    start(state)
  })
}

const hasSlot = <In, Out, E>({ concurrency, running }: State<In, Out, E>) => running.size < concurrency

const isWorthACall = <In, Out, E>({ maxBatch, underWay, waiting }: State<In, Out, E>) =>
  waiting.length >= Math.min(underWay, maxBatch)

const startAll = <In, Out, E>(state: State<In, Out, E>) => {
  while (hasSlot(state) && state.waiting.length > 0) take(state)
}

const start = <In, Out, E>(state: State<In, Out, E>) => {
  state.scheduled = false
  while (hasSlot(state) && state.waiting.length > 0 && isWorthACall(state)) take(state)
  if (hasSlot(state) && state.waiting.length > 0 && !state.patient) {
    state.patient = true
    state.fork(
      Effect.andThen(
        Effect.sleep(PATIENCE_MS),
        Effect.sync(() => {
          state.patient = false
          startAll(state)
        })
      )
    )
  }
}

/** Waits until every submitted item has its exit. */
const drained = <In, Out, E>(state: State<In, Out, E>): Effect.Effect<void> =>
  Effect.suspend(() => {
    startAll(state)
    return state.running.size === 0
      ? Effect.void
      : Effect.andThen(Fiber.awaitAll([...state.running]), drained(state))
  })

const submit = <In, Out, E>(state: State<In, Out, E>, item: In): Effect.Effect<Out, E> =>
  Effect.withFiber((caller) => {
    const span = Context.getOrUndefined(caller.context, Tracer.ParentSpan)
    return queued(state, { item, span })
  })

const queued = <In, Out, E>(
  state: State<In, Out, E>,
  asked: Omit<Waiting<In, Out, E>, "resume">
): Effect.Effect<Out, E> =>
  Effect.callback<Out, E>((resume) => {
    if (state.waiting.length >= state.capacity) return resume(Effect.fail(state.onOverflow()))
    state.waiting.push({ ...asked, resume })
    if (!state.scheduled && hasSlot(state) && (!state.patient || isWorthACall(state))) {
      state.scheduled = true
      // After the fibers that this turn of the event loop wakes: items that arrive together go out together.
      state.fork(
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => start(state))
        )
      )
    }
  })

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
    const state: State<In, Out, E> = {
      concurrency: CONCURRENCY,
      maxBatch: MAX_BATCH,
      capacity: CAPACITY,
      ...options,
      fork: Effect.runForkWith(yield* Effect.context()),
      running: new Set(),
      waiting: [],
      scheduled: false,
      underWay: 0,
      patient: false
    }
    yield* Effect.addFinalizer(() =>
      withDeadline(drained(state), {
        duration: DRAIN_TIME,
        onTimeout: () => Effect.suspend(() => Fiber.interruptAll([...state.running]))
      })
    )
    return (item) => submit(state, item)
  })
