import { Effect } from "effect"

/** Repeats a round of at most `limit` items until one is not full, so that nothing is left for the next tick. */
export const drain = <E, R>(limit: number, round: Effect.Effect<number, E, R>): Effect.Effect<void, E, R> =>
  Effect.asVoid(Effect.repeat(round, { while: (done) => done >= limit }))
