import { Context, type Effect } from "effect"

import type { StoreUnavailable } from "./store-unavailable.ts"

/**
 * Elects the process that runs work for one process at a time. Correctness never depends on it: every write has its own
 * guard.
 */
export class Leadership extends Context.Service<
  Leadership,
  {
    /** The term of this process's lease, if it is certainly still valid; in doubt the process is not leader. */
    readonly term: Effect.Effect<number | undefined>
    /** Runs `work` if this process leads, and interrupts it once it no longer leads; returns whether it ran to its end. */
    readonly whileLeading: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<boolean, E, R>
  }
>()("postlane/ports/Leadership") {}

/** The applicant for a lease. */
export interface LeaseClaim {
  readonly name: string
  /** Unique to one run of one process; never reused. */
  readonly holder: string
}

/** Where leases are kept; all are judged by the store's own clock. */
export class LeaseStore extends Context.Service<
  LeaseStore,
  {
    /** The new term, higher than every one before; undefined while another process holds the lease. */
    readonly take: (claim: LeaseClaim, ttlMs: number) => Effect.Effect<number | undefined, StoreUnavailable>
    /** Renews the lease of that term; false where it has expired or belongs to another process. */
    readonly renew: (
      claim: LeaseClaim,
      term: number,
      ttlMs: number
    ) => Effect.Effect<boolean, StoreUnavailable>
    /** Releases the lease of this process, whatever its term; false where it holds none. */
    readonly release: (claim: LeaseClaim) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/LeaseStore") {}
