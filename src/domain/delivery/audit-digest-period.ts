/** How often a digest goes out (EVENT-50). */
export const DIGEST_CADENCES = ["daily", "weekly"] as const
export type DigestCadence = (typeof DIGEST_CADENCES)[number]

/** The period that one digest covers: from its first millisecond to the one before `to`, milliseconds since the epoch. */
export interface DigestPeriod {
  readonly cadence: DigestCadence
  readonly from: number
  readonly to: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Daily at 14:00 UTC; weekly on Mondays at 14:00 UTC. The epoch was a Thursday, its first Monday four days later. */
const RHYTHM: Readonly<Record<DigestCadence, { readonly every: number; readonly first: number }>> = {
  daily: { every: DAY_MS, first: 14 * HOUR_MS },
  weekly: { every: 7 * DAY_MS, first: 4 * DAY_MS + 14 * HOUR_MS }
}

/** The period that contains an instant. Periods follow each other without a gap. */
export const periodOf = (cadence: DigestCadence, instant: number): DigestPeriod => {
  const { every, first } = RHYTHM[cadence]
  const from = first + Math.floor((instant - first) / every) * every
  return { cadence, from, to: from + every }
}

/** The period of the digest that is due at an instant: the last finished one. */
export const duePeriod = (cadence: DigestCadence, instant: number): DigestPeriod => {
  const { from } = periodOf(cadence, instant)
  return periodOf(cadence, from - 1)
}
