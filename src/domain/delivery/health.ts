import type { EmailStatus } from "../mail/status.ts"
import type { EmailStat } from "./email-log-row.ts"

/** The periods that can be drawn, days. */
export const PERIODS = [1, 7, 30, 90] as const
export type Period = (typeof PERIODS)[number]

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * The buckets of so many periods, the last of which is now, as {@link EmailStat} names them: `YYYY-MM-DD`, or `YYYY-MM-DDTHH` of a day.
 */
export const bucketsOf = (days: number, now: number, periods = 1): ReadonlyArray<string> => {
  const [each, step, digits] = days === 1 ? [24, HOUR, 13] : [days, DAY, 10]
  const length = each * periods
  return Array.from({ length }, (_, index) =>
    new Date(now - (length - 1 - index) * step).toISOString().slice(0, digits)
  )
}

/** What becomes of mails, from the bottom of a stack to its top: each status is of one layer. */
const LAYERS = {
  delivered: ["delivered", "opened", "clicked"],
  sent: ["sent"],
  waiting: ["deferred", "delivery_delayed"],
  suppressed: ["suppressed"],
  bounced: ["bounced"],
  complained: ["complained"],
  failed: ["failed"]
} as const satisfies Readonly<Record<string, ReadonlyArray<EmailStatus>>>
export type MailLayer = keyof typeof LAYERS

/** What the mails of a set became: one count a bucket for each layer. */
interface MailCounts {
  readonly layer: MailLayer
  readonly counts: ReadonlyArray<number>
}

/** Which mails are counted. */
interface StatFilter {
  readonly provider: string | undefined
  readonly category?: string | undefined
}

/** Whether a count is of those. */
export const isWanted = (stat: EmailStat, { category, provider }: StatFilter): boolean =>
  (provider === undefined || stat.provider === provider) &&
  (category === undefined || stat.category === category)

/** What the mails became, by the time. */
export const layersOf = (
  stats: ReadonlyArray<EmailStat>,
  buckets: ReadonlyArray<string>
): ReadonlyArray<MailCounts> => {
  const place = new Map(buckets.map((bucket, index) => [bucket, index]))
  return Object.entries(LAYERS).map(([layer, statuses]: [string, ReadonlyArray<EmailStatus>]) => {
    const counts = buckets.map(() => 0)
    for (const { count, day, status } of stats) {
      const index = place.get(day)
      if (index !== undefined && statuses.includes(status)) counts[index] = (counts[index] ?? 0) + count
    }
    return { layer: layer as MailLayer, counts }
  })
}
