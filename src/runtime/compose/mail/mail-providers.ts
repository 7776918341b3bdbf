import { Effect, Layer, type Scope } from "effect"

import { makeResendProvider, type ResendClient } from "../../../adapters/resend/resend-provider.ts"
import type { CredentialSource } from "../../../adapters/ses/credentials.ts"
import { paceOf } from "../../../application/send-queue/queue-config.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import { type MailProvider, MailProviders } from "../../../ports/mail/mail-provider.ts"
import { SendQueue } from "../../../ports/mail/send-queue.ts"
import type { MailSettings } from "../../settings/settings.ts"

/** `provider_a`, where its key is set; its SDK over `fetch` where no other client is given. */
const realProviderA = (settings: MailSettings, client?: ResendClient): MailProvider | undefined => {
  const { apiKey, baseUrl, userAgent } = settings.providerA
  return apiKey === undefined ? undefined : makeResendProvider({ apiKey, baseUrl, client, userAgent })
}

/** `postmark`, where its token is set. It is loaded here and not before: most installations have none. */
const realPostmark = Effect.fnUntraced(function* ({
  postmark: { baseUrl, messageStream, serverToken }
}: Pick<MailSettings, "postmark">): Effect.fn.Return<MailProvider | undefined> {
  if (serverToken === undefined) return undefined
  const { makePostmarkProvider } = yield* Effect.promise(
    () => import("../../../adapters/postmark/postmark-provider.ts")
  )
  return makePostmarkProvider({ serverToken, baseUrl, messageStream })
})

/** `provider_b`. Its SDK is loaded here and not before: it is the larger part of a start. */
const realProviderB = Effect.fnUntraced(function* (
  settings: MailSettings,
  credentials: CredentialSource
): Effect.fn.Return<MailProvider, never, Scope.Scope> {
  const { makeSesProvider } = yield* Effect.promise(() => import("../../../adapters/ses/ses-provider.ts"))
  const { region, endpoint, configurationSet } = settings.providerB
  return yield* makeSesProvider({ region, endpoint, configurationSet, credentials })
})

/** The providers by their names; any may be missing. */
export const providersOf = (
  byName: Readonly<Record<Provider, MailProvider | undefined>>
): MailProviders["Service"] => MailProviders.of({ get: (provider) => byName[provider] })

/** For documents alone: nothing sends, whatever keys there are (`EMAIL_PRIMARY=none`). */
export const NO_PROVIDERS = MailProviders.of({ get: () => undefined })

/** What Node has and the edge has not. */
export interface NodeParts {
  readonly client: ResendClient
  /** Makes `smtp`. */
  readonly relay: Effect.Effect<MailProvider | undefined, never, Scope.Scope>
}

/** Makes each real provider that is configured. `provider_b` needs a source of credentials. */
export const realOnes = (
  settings: MailSettings,
  credentials: CredentialSource | undefined,
  node?: NodeParts
): Readonly<Record<Provider, Effect.Effect<MailProvider | undefined, never, Scope.Scope>>> => ({
  provider_a: Effect.sync(() => realProviderA(settings, node?.client)),
  provider_b: credentials === undefined ? Effect.undefined : realProviderB(settings, credentials),
  smtp: node?.relay ?? Effect.undefined,
  postmark: realPostmark(settings)
})

/** The real providers as far as they are configured: nothing is simulated. */
export const realProviders = (
  settings: MailSettings,
  credentials: CredentialSource | undefined,
  node?: NodeParts
): Layer.Layer<MailProviders> =>
  Layer.effect(
    MailProviders,
    settings.sending.isOff
      ? Effect.succeed(NO_PROVIDERS)
      : Effect.map(Effect.all(realOnes(settings, credentials, node)), providersOf)
  )

/** How long the start of the sender waits for the account's rate, which is nothing that a send needs. */
const RATE_TIME_LIMIT = "10 seconds"

/** Notes the rate of the account at Amazon SES, where mail goes there and no setting fixes it. One that cannot be read leaves the usual rate. */
export const learnRate = Effect.fnUntraced(
  function* (settings: MailSettings, credentials: CredentialSource) {
    const pace = paceOf(settings.sendQueue.paces, "provider_b")
    const { fallback, primary } = settings.sending
    if (pace.least === pace.most || (primary !== "provider_b" && fallback !== "provider_b")) return
    const { readSendRate } = yield* Effect.promise(() => import("../../../adapters/ses/account.ts"))
    const ratePerSecond = yield* readSendRate({
      ...settings.providerB,
      credentials
    }).pipe(Effect.timeout(RATE_TIME_LIMIT))
    yield* (yield* SendQueue).heard(pace, 0, { ratePerSecond })
  },
  Effect.catch((error) =>
    Effect.logInfo("the rate of the account of provider_b is not known: it is asked at its usual one", error)
  )
)
