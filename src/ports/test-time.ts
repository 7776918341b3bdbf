import { Context, type Effect } from "effect"

import type { StoreUnavailable } from "./store-unavailable.ts"

/** The time of an installation for tests, which can be put forward; undefined in every other one. */
export const TestTime = Context.Reference<
  { readonly advance: (ms: number) => Effect.Effect<void, StoreUnavailable> } | undefined
>("postlane/ports/TestTime", { defaultValue: () => undefined })
