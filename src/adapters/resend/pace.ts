import { fieldsOf } from "../../domain/delivery/untrusted.ts"
import { retryAfterMs } from "../../domain/mail/retry-after.ts"
import type { ProviderPace } from "../../ports/mail/mail-provider.ts"

/** How long Resend takes nothing after a refusal that does not say so: its limit is counted by the second, milliseconds. */
const HOLD_MS = 1_000
/** Limit on the requests a second that a provider may claim. */
const MOST_RATE = 1_000

const numberOf = (value: unknown): number | undefined =>
  typeof value === "string" && /^\d{1,9}(?:\.\d{1,3})?$/.test(value.trim()) ? Number(value) : undefined

/** What the headers of an answer say of the pace; a 429 holds the provider back for as long as it says (Resend's rate limits), and any refusal its mail. */
export const paceOf = (headers: unknown, error: unknown): ProviderPace | undefined => {
  const fields = fieldsOf(headers)
  const limit = numberOf(fields["ratelimit-limit"])
  const ratePerSecond = limit !== undefined && limit > 0 ? Math.min(limit, MOST_RATE) : undefined
  const { statusCode } = fieldsOf(error)
  const asked = statusCode === undefined ? undefined : retryAfterMs(fields["retry-after"], fields["date"])
  const holdMs = statusCode === 429 ? (asked ?? HOLD_MS) : undefined
  return ratePerSecond === undefined && holdMs === undefined && asked === undefined
    ? undefined
    : { ratePerSecond, holdMs, ...(asked === undefined ? {} : { retryAfterMs: asked }) }
}
