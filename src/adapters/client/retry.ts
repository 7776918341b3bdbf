/** First wait between two attempts, and the longest that this side chooses, milliseconds. */
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 10_000

/** Longest `Retry-After` that is waited for; a call that is asked to wait longer ends with the problem. */
const MAX_RETRY_AFTER_MS = 60_000

/** `Retry-After` (RFC 9110, section 10.2.3): seconds or a date; else undefined. */
export const retryAfterOf = (headers: Headers, now: number): number | undefined => {
  const text = headers.get("retry-after")?.trim() ?? ""
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  // Only dates of the three allowed forms begin with the name of a day; `Date.parse` accepts nearly anything.
  const at = text.length < 64 && /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** How long to wait before attempt `attempt + 1`, at least what the server asks for; `undefined`: too long to wait. */
export const waitBefore = (
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number
): number | undefined => {
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return undefined
  const longest = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
  const own = longest * (0.5 + random() / 2)
  return retryAfterMs === undefined ? own : Math.max(own, retryAfterMs + (random() * longest) / 2)
}

/** Waits; ends early, without an error, when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener("abort", end)
  })
