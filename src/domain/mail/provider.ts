import { Schema } from "effect"

/** What differs from provider to provider. */
interface ProviderFacts {
  /** The vendor's name, for people. */
  readonly vendor: string
  /**
   * Whether it delivers one copy for an idempotency key however often it is asked, within `IDEMPOTENCY_WINDOW_MS`. From one that
   * does not, a mail that evidence does not settle can arrive twice (MAIL-57).
   */
  readonly dedupes: boolean
}

/** The providers by their neutral names. The database decides by the same record (`provider_dedupes`). */
export const PROVIDERS = {
  provider_a: { vendor: "Resend", dedupes: true },
  provider_b: { vendor: "Amazon SES", dedupes: false }
} as const satisfies Readonly<Record<string, ProviderFacts>>

export type Provider = keyof typeof PROVIDERS

/** Its codec. */
export const Provider = Schema.Literals(Object.keys(PROVIDERS) as ReadonlyArray<Provider>)

/** Whether a name that was stored is one of a provider. */
export const isProvider = (name: string | null): name is Provider =>
  name !== null && Object.hasOwn(PROVIDERS, name)

/** See {@link ProviderFacts.dedupes}. */
export const dedupes = (provider: Provider): boolean => PROVIDERS[provider].dedupes
