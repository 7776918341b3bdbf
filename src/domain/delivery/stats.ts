import type { EmailStatus } from "../mail/status.ts"
import type { EmailStat } from "./email-log-row.ts"

/** Rows of the log by status. */
type StatusCounts = Readonly<Record<EmailStatus, number>>

/** Shares of the mails that a provider accepted, 0 to 1; null without such mails. */
interface StatRates {
  readonly delivered: number | null
  readonly bounced: number | null
  readonly complained: number | null
}

/** The counts and rates of a set of mails. */
interface StatSummary {
  readonly total: number
  readonly byStatus: StatusCounts
  readonly failedOver: number
  /** Accepted, and ended without being delivered (EVENT-16); their status is `sent` or `delivery_delayed`. */
  readonly undelivered: number
  /** USD. */
  readonly costUsd: number
  readonly rates: StatRates
}

/** The mails of one UTC day, category and provider. */
interface StatRow extends StatSummary {
  readonly day: string
  readonly category: string
  readonly provider: string | null
}

const emptyCounts = (): Record<EmailStatus, number> => ({
  deferred: 0,
  sent: 0,
  delivery_delayed: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  suppressed: 0,
  failed: 0,
  bounced: 0,
  complained: 0
})

/** Removes the floating-point error of adding millionths of a dollar. */
const dollars = (sum: number): number => Math.round(sum * 1e8) / 1e8

/** Mails that a provider accepted: not those suppressed, failed or deferred. */
const accepted = (counts: StatusCounts): number =>
  counts.sent +
  counts.delivery_delayed +
  counts.delivered +
  counts.opened +
  counts.clicked +
  counts.bounced +
  counts.complained

/** Adds up counts. A mail that was opened or reported as spam was delivered. */
export const summarize = (stats: ReadonlyArray<EmailStat>): StatSummary => {
  const byStatus = emptyCounts()
  for (const { count, status } of stats) byStatus[status] += count
  const all = accepted(byStatus)
  const share = (part: number) => (all === 0 ? null : part / all)
  return {
    total: stats.reduce((sum, { count }) => sum + count, 0),
    byStatus,
    failedOver: stats.reduce((sum, { failedOver }) => sum + failedOver, 0),
    undelivered: stats.reduce((sum, { undelivered }) => sum + undelivered, 0),
    costUsd: dollars(stats.reduce((sum, { costUsd }) => sum + costUsd, 0)),
    rates: {
      delivered: share(byStatus.delivered + byStatus.opened + byStatus.clicked + byStatus.complained),
      bounced: share(byStatus.bounced),
      complained: share(byStatus.complained)
    }
  }
}

/** One row a day, category and provider, in the order in which the counts name them. */
export const statRows = (stats: ReadonlyArray<EmailStat>): ReadonlyArray<StatRow> => {
  const groups = Map.groupBy(stats, ({ category, day, provider }) =>
    JSON.stringify([day, category, provider])
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first === undefined
      ? []
      : [{ day: first.day, category: first.category, provider: first.provider, ...summarize(group) }]
  })
}
