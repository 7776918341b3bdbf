import { type ProviderRequest, tagOf } from "../../domain/mail/deferred-send.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { Sending, SendParts } from "./sending.ts"

/** The vendor's request, byte-identical for the same message and key; `undefined` where the provider is not configured. */
export const requestFor = (
  { providers }: SendParts,
  { details, firstAttemptAt, message }: Sending,
  provider: Provider
): ProviderRequest | undefined =>
  providers.get(provider)?.prepare(message, {
    key: details.idempotencyKey,
    keyHash: details.keyHash,
    tag: tagOf(details),
    firstAttemptAt
  })
