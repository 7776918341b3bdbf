import { Schema } from "effect"

/** The two providers by their neutral names (document 1, "Providers"): `provider_a` is Resend, `provider_b` Amazon SES. */
export const Provider = Schema.Literals(["provider_a", "provider_b"])
export type Provider = typeof Provider.Type

/**
 * Whether a provider delivers one copy for an idempotency key however often it is asked, within
 * {@link IDEMPOTENCY_WINDOW_MS}. `provider_b` knows no such key: what cannot be settled by evidence can arrive twice.
 */
export const dedupes = (provider: Provider): boolean => provider === "provider_a"

/** How long `provider_a` remembers a key, and so how long a key of ours keeps its meaning (document 1, "Limits"). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000
