import { Effect, type Layer, type Scope } from "effect"

import { UndiciResend } from "../../../adapters/resend/undici-resend.ts"
import type { CredentialSource } from "../../../adapters/ses/credentials.ts"
import type { MailProvider, MailProviders } from "../../../ports/mail/mail-provider.ts"
import type { MailSettings } from "../../settings/settings.ts"
import { type NodeParts, realProviders } from "./mail-providers.ts"

/** `smtp`, where a relay is named. It is loaded here and not before: most installations have none. */
const realRelay = Effect.fnUntraced(function* ({
  bounceAddress: returns,
  sending: { attemptTimeoutMs },
  smtp: relay
}: MailSettings): Effect.fn.Return<MailProvider | undefined, never, Scope.Scope> {
  if (relay === undefined) return undefined
  const { makeRelayProvider } = yield* Effect.promise(
    () => import("../../../adapters/smtp-relay/relay-provider.ts")
  )
  return yield* makeRelayProvider({ relay, returns, attemptTimeoutMs })
})

export const nodeParts = (settings: MailSettings): NodeParts => ({
  client: UndiciResend,
  relay: realRelay(settings)
})

/** The real providers of a process on Node. */
export const nodeProviders = (
  settings: MailSettings,
  credentials: CredentialSource
): Layer.Layer<MailProviders> => realProviders(settings, credentials, nodeParts(settings))
