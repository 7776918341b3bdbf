import { Context, type Effect } from "effect"

/** Who runs the work that one process at a time should do. Correctness never rests on it: every write is guarded by itself. */
export class Leadership extends Context.Service<
  Leadership,
  {
    /** The term that this process holds the lease for, if it may trust it now; doubt means not leader. */
    readonly term: Effect.Effect<number | undefined>
    /**
     * Runs `work` if this process leads, and interrupts it as soon as it does not any more; tells whether it ran to its end.
     */
    readonly whileLeading: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<boolean, E, R>
  }
>()("postlane/ports/Leadership") {}
