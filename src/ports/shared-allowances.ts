import { Context, type Duration, type Effect } from "effect"

import type { StoreUnavailable } from "./store-unavailable.ts"

/** How much of something one key may use: `limit` at once, refilled evenly over `window`. */
export interface Allowance {
  readonly key: string
  readonly limit: number
  readonly window: Duration.Input
  /** How much one call uses; default 1. */
  readonly amount?: number
}

/** Counts what callers use, for all processes together. */
export interface SharedAllowancesService {
  /** Undefined: taken. Else nothing is taken, and the answer is when there will be enough. */
  readonly take: (allowance: Allowance) => Effect.Effect<Duration.Duration | undefined, StoreUnavailable>
}

/** Undefined where processes share nothing to count in. */
export const SharedAllowances = Context.Reference<SharedAllowancesService | undefined>(
  "postlane/ports/SharedAllowances",
  { defaultValue: () => undefined }
)

/** Counts what callers use, in all processes together where they share a store that answers, else in this one. */
export class Allowances extends Context.Service<
  Allowances,
  {
    /** Undefined: taken. Else nothing is taken, and the answer is when there will be enough. */
    readonly take: (allowance: Allowance) => Effect.Effect<Duration.Duration | undefined>
  }
>()("postlane/ports/Allowances") {}
