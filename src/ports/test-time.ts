import { Clock, Context, type Effect } from "effect"

import type { StoreUnavailable } from "./store-unavailable.ts"

/** The time of an installation for tests, which can be put forward; undefined in every other one. */
export const TestTime = Context.Reference<
  { readonly advance: (ms: number) => Effect.Effect<void, StoreUnavailable> } | undefined
>("postlane/ports/TestTime", { defaultValue: () => undefined })

/** The time of day that other machines compare with theirs: the clock's own, unless that is put forward in a test. */
export const TimeForOthers = Context.Reference<Effect.Effect<number>>("postlane/ports/TimeForOthers", {
  defaultValue: () => Clock.currentTimeMillis
})
