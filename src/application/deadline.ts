import { type Context, Effect, type Duration, type Fiber } from "effect"

/**
 * Waits for `operation` at most `duration`, then runs `onTimeout` and moves on.
 *
 * `Effect.timeout` waits until the interruption has finished, which a half-open socket can hold for minutes. Here the operation
 * runs in a separate fiber; past the deadline that fiber is interrupted and not waited for.
 */
export const withDeadline = <A, E, R, B, E2, R2>(
  operation: Effect.Effect<A, E, R>,
  options: {
    readonly duration: Duration.Input
    readonly onTimeout: () => Effect.Effect<B, E2, R2>
    /** Receives the fiber that runs the operation, so that a shutdown can end it early. */
    readonly onFork?: (fiber: Fiber.Fiber<A, E>) => void
  }
): Effect.Effect<A | B, E | E2, R | R2> =>
  // Every mail passes three of these: this takes two fibers each, where a race would take five.
  Effect.contextWith((context: Context.Context<R | R2>): Effect.Effect<A | B, E | E2, R | R2> => {
    const fork = Effect.runForkWith(context)
    const fiber = fork(operation)
    const finished = fiber.pollUnsafe()
    if (finished !== undefined) return finished
    options.onFork?.(fiber)
    return Effect.callback<A | B, E | E2, R2>((resume) => {
      const alarm = fork(Effect.sleep(options.duration))
      let waiting = true
      fiber.addObserver((exit) => {
        if (!waiting) return
        waiting = false
        alarm.interruptUnsafe()
        resume(exit)
      })
      alarm.addObserver(() => {
        if (!waiting) return
        waiting = false
        fiber.interruptUnsafe()
        resume(Effect.suspend(options.onTimeout))
      })
      return Effect.sync(() => {
        waiting = false
        alarm.interruptUnsafe()
        fiber.interruptUnsafe()
      })
    })
  })
