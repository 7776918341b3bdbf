import { Effect, Layer } from "effect"

import { UndiciResend } from "../adapters/resend/undici-resend.ts"
import type { CredentialSource } from "../adapters/ses/credentials.ts"
import { MailProviders } from "../ports/mail-provider.ts"
import { SimulatedMail } from "../ports/simulated-mail.ts"
import { providersOf, realProviderA, realProviderB } from "./mail-providers.ts"
import type { Settings } from "./settings.ts"

/** Which providers are simulated: embedded, those that are not configured. */
export const simulates = (settings: Settings) => ({
  provider_a: settings.embedded && settings.providerA.apiKey === undefined,
  provider_b: settings.embedded && settings.cloud.credentials === undefined
})

/** What is configured is real, what is not is simulated. */
export const embeddedProviders = (
  settings: Settings,
  credentials: CredentialSource
): Layer.Layer<MailProviders, never, SimulatedMail> =>
  Layer.effect(
    MailProviders,
    Effect.gen(function* () {
      const simulated = yield* SimulatedMail
      const stand = simulates(settings)
      return providersOf(
        stand.provider_a ? simulated.provider("provider_a") : realProviderA(settings, UndiciResend),
        stand.provider_b ? simulated.provider("provider_b") : yield* realProviderB(settings, credentials)
      )
    })
  )
