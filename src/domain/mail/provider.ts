import { Schema } from "effect"

import type { Rate } from "./rate.ts"

/** What differs from provider to provider. */
interface ProviderFacts {
  /** The vendor's name, for people. */
  readonly vendor: string
  /**
   * Whether it delivers one copy for an idempotency key however often it is asked, within `IDEMPOTENCY_WINDOW_MS`. From one that
   * does not, a mail that evidence does not settle can arrive twice (MAIL-57).
   */
  readonly dedupes: boolean
  /** Its events come through the functions of a hosted platform, which also post the alerts about them. */
  readonly throughFunctions: boolean
  /** How fast it may be asked where no setting says it: by its own word, from an ordinary account's rate on. */
  readonly pace: Rate
  /** What to look at when no delivery events of it come; null where it reports none. */
  readonly whenSilent: string | null
  /** Where to find its DNS records; null where its API lists them. */
  readonly records: string | null
}

/** The providers by their neutral names. The database decides by the same record (`provider_dedupes`). */
export const PROVIDERS = {
  provider_a: {
    vendor: "Resend",
    dedupes: true,
    throughFunctions: true,
    pace: { rate: 2, least: 2, most: null },
    whenSilent: "the webhook, its signing secret and the poll",
    records: null
  },
  provider_b: {
    vendor: "Amazon SES",
    dedupes: false,
    throughFunctions: false,
    // Of a new account out of its sandbox.
    pace: { rate: 14, least: 0.1, most: null },
    whenSilent: "the event bus rule, its API destination and the webhook secret",
    records: null
  },
  smtp: {
    vendor: "an SMTP relay",
    dedupes: false,
    throughFunctions: false,
    pace: { rate: 0, least: 0, most: 0 },
    whenSilent: null,
    records: "ask who runs the relay for the records of SPF and DKIM"
  },
  postmark: {
    vendor: "Postmark",
    dedupes: false,
    throughFunctions: true,
    // It names no rate, and refuses what is too fast.
    pace: { rate: 0, least: 0, most: 0 },
    whenSilent: "the webhooks of its message streams, their user name and password",
    records: "its records are at account.postmarkapp.com under Sender Signatures"
  }
} as const satisfies Readonly<Record<string, ProviderFacts>>

export type Provider = keyof typeof PROVIDERS

/** A provider's name as people know it. */
export const providerName = (provider: Provider): string => vendorName(PROVIDERS[provider].vendor)

/** The same of its vendor as sentences have it. */
export const vendorName = (vendor: string): string => vendor.replace("an ", "")

/**
 * Its codec.
 *
 * @since 0.1.0
 * @category models
 */
export const Provider = Schema.Literals(Object.keys(PROVIDERS) as ReadonlyArray<Provider>)

/** Providers with delivery events. */
export type ReportingProvider = {
  readonly [P in Provider]: (typeof PROVIDERS)[P]["whenSilent"] extends null ? never : P
}[Provider]

/** Whether it is one of them. */
export const reports = (provider: Provider): provider is ReportingProvider =>
  PROVIDERS[provider].whenSilent !== null

/** Their codec. */
export const ReportingProvider = Schema.Literals(Provider.literals.filter(reports))

/** Tried first where the settings name none. */
export const DEFAULT_PRIMARY = "provider_a" satisfies Provider

/** The fallback of a first run that names neither and simulates all: so a newcomer sees a fail-over. */
export const FIRST_FALLBACK = "provider_b" satisfies Provider

/** The one that is as slow as its vendor while it is simulated, where `SIMULATE_VENDOR_LIMITS` says so. */
export const LIMITED_PROVIDER = "provider_a" satisfies Provider

/** The one that is asked for its list of mails, for events that no webhook reported (EVENT-30). */
export const POLLED_PROVIDER = "provider_a" satisfies Provider

/** The one whose events come back as delivery reports by mail (RETURN-4). */
export const REPORTED_PROVIDER = "smtp" satisfies Provider

/** The webhooks that bring one event a request, by the name of the function that takes it. */
export const WEBHOOKS = {
  "provider-a-webhook": "provider_a",
  "postmark-webhook": "postmark"
} as const satisfies Readonly<Record<string, ReportingProvider>>
export type WebhookName = keyof typeof WEBHOOKS

/** The providers that the settings name: what is shown of providers is about these, in this order. */
export const providersNamed = ({
  fallback,
  primary
}: {
  readonly primary: Provider
  readonly fallback: Provider | undefined
}): ReadonlyArray<Provider> => Provider.literals.filter((one) => one === primary || one === fallback)

/** Whether rows may hold events that no webhook brought: then they cannot show that the webhook is dead. */
export const isPolled = (provider: Provider): boolean =>
  provider === POLLED_PROVIDER || provider === "postmark"

/** The one that outreach mail is pinned to: it has configuration sets, one of which separates its events from others (EVENT-70). */
export const OUTREACH_PROVIDER = "provider_b" satisfies Provider

/** Reviews the account when too much bounces or is reported as spam (EVENT-40). */
export const REVIEWING_PROVIDER = "provider_b" satisfies Provider

/** Whether a name that was stored is one of a provider. */
export const isProvider = (name: string | null): name is Provider =>
  name !== null && Object.hasOwn(PROVIDERS, name)

/** See {@link ProviderFacts.dedupes}. */
export const dedupes = (provider: Provider): boolean => PROVIDERS[provider].dedupes
