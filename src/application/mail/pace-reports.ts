import { Context } from "effect"

import type { Provider } from "../../domain/mail/provider.ts"
import type { ProviderPace } from "../../ports/mail/mail-provider.ts"

/** Receives each attempt at a provider, with what the provider said of its pace. */
interface PaceReportsService {
  readonly note: (provider: Provider, said: ProviderPace | undefined) => void
}

/** Without a send queue the reports are dropped. */
export const PaceReports = Context.Reference<PaceReportsService>("postlane/application/PaceReports", {
  defaultValue: () => ({ note: () => {} })
})
