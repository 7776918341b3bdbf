import { Duration } from "effect"

/** What failed through no fault of a mail or reply is tried again after this, then after twice as long each time … */
const RETRY_FIRST = Duration.seconds(10)
/** … up to the most, so that work goes on soon after an outage. */
const RETRY_MOST = Duration.minutes(15)

/** How long the wait is after this many failures in a row. */
export const retryAfter = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(RETRY_FIRST, 2 ** Math.min(Math.max(failures, 1) - 1, 20)), RETRY_MOST)

/** A part that fails for as long as this is not waited for any more: the library remembers a key for an hour longer. */
export const OUTLASTED = Duration.hours(23)

/** Failures further apart are two outages: in between nobody looked. */
export const OUTAGE_GAP = Duration.hours(2)

/** Funds of a mail stay set aside through all that it outlasts. */
export const MAIL_HOLD_WINDOW = Duration.hours(26)
