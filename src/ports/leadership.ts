import { Context, type Effect, Data } from "effect"

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

/** The leases did not answer: whether the call did something is open. */
export class LeaseStoreError extends Data.TaggedError("LeaseStoreError")<{
  readonly operation: "take" | "renew" | "release"
  readonly cause: unknown
}> {}

/** Who asks for a lease. */
export interface LeaseClaim {
  readonly name: string
  /** One incarnation of one process: never used again by another. */
  readonly holder: string
}

/** Where leases are kept; one clock, the store's own, judges them all. */
export class LeaseStore extends Context.Service<
  LeaseStore,
  {
    /** The new term, higher than every one before; undefined while another process holds the lease. */
    readonly take: (claim: LeaseClaim, ttlMs: number) => Effect.Effect<number | undefined, LeaseStoreError>
    /** Prolongs the lease of that term; false where it has run out or is another's. */
    readonly renew: (
      claim: LeaseClaim,
      term: number,
      ttlMs: number
    ) => Effect.Effect<boolean, LeaseStoreError>
    /** Gives back what the process holds, whatever its term; false where it holds nothing. */
    readonly release: (claim: LeaseClaim) => Effect.Effect<boolean, LeaseStoreError>
  }
>()("postlane/ports/LeaseStore") {}
