import { Effect } from "effect"

import type { Provider } from "../../domain/mail/provider.ts"
import type { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { countFailover } from "./metrics.ts"
import type { Sending } from "./sending.ts"

/** Reports the fail-over (MAIL-73). */
export const reportFailover = (
  { details: { source } }: Sending,
  { message: reason, provider: from }: ProviderFailure,
  to: Provider
): Effect.Effect<void> =>
  Effect.logWarning("EMAIL_FAILOVER").pipe(
    Effect.annotateLogs({ from, to, reason, source }),
    Effect.andThen(countFailover)
  )
