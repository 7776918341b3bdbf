import { Schema } from "effect"

import { FailureKind } from "./failover.ts"
import { Provider } from "./provider.ts"

/** What the log keeps of one attempt at a provider (MAIL-74). */
export const Attempt = Schema.Struct({
  provider: Provider,
  outcome: Schema.Literals(["accepted", ...FailureKind.literals]),
  /** The provider's error text and name, as they are in {@link ProviderFailure}; null where it accepted. */
  reason: Schema.NullOr(Schema.String),
  code: Schema.NullOr(Schema.String),
  /** Milliseconds since the epoch. */
  startedAt: Schema.Number,
  durationMs: Schema.Number
})

export type Attempt = typeof Attempt.Type
