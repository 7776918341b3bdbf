import { Context, Data } from "effect"
import type { Effect } from "effect"

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
