import { type Provider, WEBHOOKS } from "../../domain/mail/provider.ts"
import type { SettingName, Values } from "./table.ts"

/** What the settings say of a provider. */
interface ProviderSettings {
  /** The area of its settings. */
  readonly area: keyof Values
  /** Whether it has an account in the settings. */
  readonly isSet: (values: Values) => boolean
  /** USD a message. */
  readonly costUsd: (values: Values) => number
  /** Requests a second, where a setting may fix them. */
  readonly rate?: (values: Values) => number | undefined
  /** The setting that it cannot do without, and where that comes from; absent: it may have the machine's own credentials. */
  readonly needs?: { readonly setting: SettingName; readonly how: string }
}

/** The settings of each provider. The table has those that only its adapter reads. */
export const PROVIDER_SETTINGS = {
  provider_a: {
    area: "providerA",
    isSet: ({ providerA }) => providerA.apiKey !== undefined,
    costUsd: ({ providerA }) => providerA.costUsd,
    rate: ({ sendQueue }) => sendQueue.rateA,
    needs: {
      setting: "PROVIDERA_API_KEY",
      how: "set it, choose provider_b, or EMAIL_PRIMARY=none for documents alone"
    }
  },
  provider_b: {
    area: "providerB",
    isSet: ({ cloud }) => cloud.accessKeyId !== undefined && cloud.secretAccessKey !== undefined,
    costUsd: ({ providerB }) => providerB.costUsd,
    rate: ({ sendQueue }) => sendQueue.rateB
  },
  smtp: {
    area: "smtp",
    isSet: ({ smtp }) => smtp.url !== undefined,
    costUsd: () => 0,
    needs: {
      setting: "SMTP_URL",
      how: "smtps://user:password@host:465, or smtp://user:password@host:587"
    }
  },
  postmark: {
    area: "postmark",
    isSet: ({ postmark }) => postmark.serverToken !== undefined,
    costUsd: ({ postmark }) => postmark.costUsd,
    needs: { setting: "POSTMARK_SERVER_TOKEN", how: "copy it from the server's API tokens" }
  }
} as const satisfies Readonly<Record<Provider, ProviderSettings>>

/** See {@link ProviderSettings.needs}. */
export const needsOf = (provider: Provider): ProviderSettings["needs"] => {
  const own: ProviderSettings = PROVIDER_SETTINGS[provider]
  return own.needs
}

/** See {@link ProviderSettings.rate}. */
export const rateOf = (provider: Provider, values: Values): number | undefined => {
  const own: ProviderSettings = PROVIDER_SETTINGS[provider]
  return own.rate?.(values)
}

export type ProviderArea = (typeof PROVIDER_SETTINGS)[Provider]["area"]

/** The areas of all providers, and of those with a webhook. */
export const PROVIDER_AREAS = Object.values(PROVIDER_SETTINGS).map(({ area }) => area)
export const WEBHOOK_AREAS = Object.values(WEBHOOKS).map((provider) => PROVIDER_SETTINGS[provider].area)
