import { Context } from "effect"

import type { Provider } from "../../domain/mail/provider.ts"
import type { ProviderPace } from "../../ports/mail/mail-provider.ts"

/** Hears of each attempt at a provider, and what the provider said of its pace with the answer. */
interface PaceReportsService {
  readonly note: (provider: Provider, said: ProviderPace | undefined) => void
}

/** Nobody listens where there is no send queue. */
export const PaceReports = Context.Reference<PaceReportsService>("postlane/application/PaceReports", {
  defaultValue: () => ({ note: () => {} })
})
