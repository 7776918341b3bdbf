import { type EmailStatus, statusesThat } from "../mail/status.ts"
import type { EmailStat } from "./email-log-row.ts"

/** What is drawn of the mail, in the order of its charts. */
export const MEASURES = [
  "accepted",
  "delivered",
  "deferred",
  "failed",
  "bounced",
  "complained",
  "failedOver"
] as const
export type Measure = (typeof MEASURES)[number]

/** The statuses that count for a measure. */
const COUNTS: Readonly<Record<Exclude<Measure, "failedOver">, ReadonlyArray<EmailStatus>>> = {
  accepted: statusesThat("accepted"),
  delivered: statusesThat("delivered"),
  deferred: ["deferred"],
  failed: ["failed"],
  bounced: ["bounced"],
  complained: ["complained"]
}

/** A measure over the time: one count a bucket. */
export interface Series {
  readonly measure: Measure
  readonly total: number
  readonly counts: ReadonlyArray<number>
}

/** The periods that can be drawn, and the length of their buckets. */
export const PERIODS = [1, 7, 30, 90] as const
export type Period = (typeof PERIODS)[number]

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The buckets of a period, the last of which is now, as {@link EmailStat} names them: `YYYY-MM-DD`, or `YYYY-MM-DDTHH` of a day. */
export const bucketsOf = (days: Period, now: number): ReadonlyArray<string> => {
  const [length, step, digits] = days === 1 ? [24, HOUR, 13] : [days, DAY, 10]
  return Array.from({ length }, (_, index) =>
    new Date(now - (length - 1 - index) * step).toISOString().slice(0, digits)
  )
}

/** The series of the mails, of one provider where it is given. */
export const seriesOf = (
  stats: ReadonlyArray<EmailStat>,
  buckets: ReadonlyArray<string>,
  provider: string | undefined
): ReadonlyArray<Series> => {
  const place = new Map(buckets.map((bucket, index) => [bucket, index]))
  const series = MEASURES.map((measure) => ({ measure, total: 0, counts: buckets.map(() => 0) }))
  for (const stat of stats) {
    const index = place.get(stat.day)
    if (index === undefined || (provider !== undefined && stat.provider !== provider)) continue
    for (const one of series) {
      const count =
        one.measure === "failedOver"
          ? stat.failedOver
          : COUNTS[one.measure].includes(stat.status)
            ? stat.count
            : 0
      one.counts[index] = (one.counts[index] ?? 0) + count
      one.total += count
    }
  }
  return series
}
