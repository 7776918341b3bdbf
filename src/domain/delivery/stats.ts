import { EmailStatus, statusesThat } from "../mail/status.ts"
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

const emptyCounts = () =>
  Object.fromEntries(EmailStatus.literals.map((status) => [status, 0])) as Record<EmailStatus, number>

/** Removes the floating-point error of adding millionths of a dollar. */
const dollars = (sum: number): number => Math.round(sum * 1e8) / 1e8

const sumOf = (counts: StatusCounts, statuses: ReadonlyArray<EmailStatus>): number =>
  statuses.reduce((sum, status) => sum + counts[status], 0)

/** Adds up counts. */
export const summarize = (stats: ReadonlyArray<EmailStat>): StatSummary => {
  const byStatus = emptyCounts()
  for (const { count, status } of stats) byStatus[status] += count
  const all = sumOf(byStatus, statusesThat("accepted"))
  const share = (part: number) => (all === 0 ? null : part / all)
  return {
    total: stats.reduce((sum, { count }) => sum + count, 0),
    byStatus,
    failedOver: stats.reduce((sum, { failedOver }) => sum + failedOver, 0),
    undelivered: stats.reduce((sum, { undelivered }) => sum + undelivered, 0),
    costUsd: dollars(stats.reduce((sum, { costUsd }) => sum + costUsd, 0)),
    rates: {
      delivered: share(sumOf(byStatus, statusesThat("delivered"))),
      bounced: share(byStatus.bounced),
      complained: share(byStatus.complained)
    }
  }
}

/** The statuses of accepted mails that only a delivery event gives. */
const REPORTED_STATUSES = statusesThat("accepted").filter((status) => status !== "sent")

/** Whether any of the mails has a delivery event. Without one, rates are unknown. */
export const hasEvents = ({ byStatus }: Pick<StatSummary, "byStatus">): boolean =>
  sumOf(byStatus, REPORTED_STATUSES) > 0

/** One row a day, category and provider, in the order in which the counts name them. */
export const statRows = (stats: ReadonlyArray<EmailStat>): ReadonlyArray<StatRow> => {
  const groups = Map.groupBy(stats, ({ category, day, provider }) =>
    JSON.stringify([day, category, provider])
  )
  return [...groups.values()].map((group) => {
    const { category, day, provider } = group[0]!
    return { day, category, provider, ...summarize(group) }
  })
}
