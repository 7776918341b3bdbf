import { fieldsOf } from "../../domain/delivery/untrusted.ts"
import type { ProviderPace } from "../../ports/mail/mail-provider.ts"

/** How long Resend takes nothing after a refusal that does not say so: its limit is counted by the second, milliseconds. */
const HOLD_MS = 1_000
/** Limits on what a provider may claim: requests a second, and the longest wait. */
const MOST_RATE = 1_000
const MOST_HOLD_MS = 24 * 3_600_000

const numberOf = (value: unknown): number | undefined =>
  typeof value === "string" && /^\d{1,9}(?:\.\d{1,3})?$/.test(value.trim()) ? Number(value) : undefined

/** What the headers of an answer say of the pace; a 429 holds the provider back for as long as it says (Resend's rate limits). */
export const paceOf = (headers: unknown, error: unknown): ProviderPace | undefined => {
  const fields = fieldsOf(headers)
  const limit = numberOf(fields["ratelimit-limit"])
  const ratePerSecond = limit !== undefined && limit > 0 ? Math.min(limit, MOST_RATE) : undefined
  const retryAfter = numberOf(fields["retry-after"])
  const isLimited = fieldsOf(error)["statusCode"] === 429
  const holdMs = isLimited
    ? Math.min(MOST_HOLD_MS, retryAfter === undefined ? HOLD_MS : retryAfter * 1000)
    : undefined
  return ratePerSecond === undefined && holdMs === undefined ? undefined : { ratePerSecond, holdMs }
}
