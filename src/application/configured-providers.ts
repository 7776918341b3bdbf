import { Context } from "effect"

import { Provider } from "../domain/mail/provider.ts"

/** The providers of the settings, which metrics, alarms and pages name; all of them where no settings say so. */
export class ConfiguredProviders extends Context.Reference<ReadonlyArray<Provider>>(
  "postlane/application/ConfiguredProviders",
  { defaultValue: () => Provider.literals }
) {}
