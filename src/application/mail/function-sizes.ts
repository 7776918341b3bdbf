import { longestRetryMs, longestSendMs, type TimeLimits } from "./sending.ts"

/** Retries in progress at once in one process: as many as one invocation of a function gets, which begin together. */
export const RETRIES_AT_ONCE = 8

/** What the start of a cold instance may take before the first event, milliseconds. */
const START_MS = 10_000

/** What is left for the answer's own way, milliseconds. */
export const ANSWER_MARGIN_MS = 1_500

/** The most that the platform allows. */
const MOST_SECONDS = 900

/**
 * The time limit of a function, in whole tens of seconds: a send, or a batch of retries, ends within it however slow provider and
 * database are. A function cut off earlier leaves it unknown whether its mail went out. A gateway gives up its caller after half of
 * it; the function continues, and the caller's next call with the key is answered.
 */
export const functionSeconds = (limits: TimeLimits): number => {
  const longest = Math.max(longestSendMs(limits), longestRetryMs(limits))
  return Math.min(MOST_SECONDS, Math.ceil((START_MS + longest + ANSWER_MARGIN_MS) / 10_000) * 10)
}
