import { Effect } from "effect"

/** Repeats a round of at most `limit` things until one is not full: nothing is left for the next tick, however much there is. */
export const drain = <E, R>(limit: number, round: Effect.Effect<number, E, R>): Effect.Effect<void, E, R> =>
  Effect.asVoid(Effect.repeat(round, { while: (done) => done >= limit }))
