import type { Provider } from "../../src/domain/mail/provider.ts"

/** The providers of the simulated worlds: one that dedupes and one that does not, as all others. */
export type SimProvider = Extract<Provider, "provider_a" | "provider_b">

export const isSimulated = (provider: Provider): provider is SimProvider =>
  provider === "provider_a" || provider === "provider_b"
