import { Effect } from "effect"

import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { postmarkVerdicts, postmarkWebhookOf } from "../../domain/doctor/postmark.ts"
import { providerAVerdicts } from "../../domain/doctor/provider-a.ts"
import { providerBVerdicts } from "../../domain/doctor/provider-b.ts"
import { relayVerdicts } from "../../domain/doctor/relay.ts"
import type { Verdict } from "../../domain/doctor/verdict.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { Settings } from "../settings/settings.ts"
import { accountOfB } from "./sender-records.ts"

/** What an account is asked with. */
interface Asked {
  readonly settings: Settings
  readonly credentials: CredentialSource
  /** Whether what events need is looked at, too. */
  readonly ofEvents: boolean
}

/** What each provider's own account makes of the settings; undefined where it is not set up. */
export const PROVIDER_CHECKS: Readonly<
  Record<Provider, (asked: Asked) => Effect.Effect<ReadonlyArray<Verdict>> | undefined>
> = {
  provider_a: ({ settings }) => {
    const { apiKey, baseUrl, userAgent } = settings.providerA
    return (
      apiKey &&
      Effect.promise(() => import("../../adapters/resend/account.ts")).pipe(
        Effect.flatMap((adapter) => adapter.examineAccount({ apiKey, baseUrl, userAgent })),
        Effect.map((facts) => providerAVerdicts(facts, settings.domains.sender))
      )
    )
  },
  provider_b: (asked) =>
    Effect.map(accountOfB(asked), (facts) => providerBVerdicts(facts, asked.settings.domains.sender)),
  smtp: ({ settings: { smtp: relay } }) =>
    relay &&
    Effect.promise(() => import("../../adapters/smtp-relay/examination.ts")).pipe(
      Effect.flatMap((adapter) => adapter.examineRelay(relay)),
      Effect.map(relayVerdicts)
    ),
  postmark: ({ ofEvents, settings: { http, postmark } }) => {
    const { serverToken, webhookUser } = postmark
    const webhook = ofEvents ? { url: postmarkWebhookOf(http.baseUrl), user: webhookUser } : undefined
    return (
      serverToken &&
      Effect.promise(() => import("../../adapters/postmark/account.ts")).pipe(
        Effect.flatMap((adapter) => adapter.examineAccount({ ...postmark, serverToken })),
        Effect.map((facts) => postmarkVerdicts(facts, webhook))
      )
    )
  }
}
