/** Most that a provider may ask for, milliseconds. */
const MOST_HOLD_MS = 24 * 3_600_000

const NUMBER = /^\d{1,9}(?:\.\d{1,3})?$/

/** A date of HTTP begins with the name of a day; `Date.parse` takes nearly anything. */
const DATE = /^[A-Z][a-z]{2,8},? .{1,50}$/u

const dateOf = (value: unknown): number =>
  typeof value === "string" && DATE.test(value.trim()) ? Date.parse(value) : Number.NaN

/**
 * `Retry-After` of an answer (RFC 9110, section 10.2.3), milliseconds: seconds, or a date, which counts from the answer's own `Date`, since the
 * clocks of the two sides differ. Undefined for anything else.
 */
export const retryAfterMs = (retryAfter: unknown, date: unknown): number | undefined => {
  const text = typeof retryAfter === "string" ? retryAfter.trim() : ""
  const wait = NUMBER.test(text) ? Number(text) * 1000 : Math.max(0, dateOf(text) - dateOf(date))
  return Number.isNaN(wait) ? undefined : Math.min(MOST_HOLD_MS, wait)
}
