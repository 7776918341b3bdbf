import { BOUNCES, COMPLAINTS } from "../../../../domain/delivery/alarm-rules.ts"
import type { EmailStat } from "../../../../domain/delivery/email-log-row.ts"
import { hasEvents, summarize } from "../../../../domain/delivery/stats.ts"
import { pathTo } from "../../../../domain/pages.ts"
import { gauge } from "../charts.ts"
import { type Html, html } from "../html.ts"
import { type Figure, figures, NOTHING, number, percent } from "../ui.ts"

/** The mails of a period, and of the period before; the latter is undefined where it is not known. */
interface Periods {
  readonly now: ReadonlyArray<EmailStat>
  readonly before: ReadonlyArray<EmailStat> | undefined
}

/** Which mails were counted: the links to the log name the same. */
interface Asked {
  readonly days: number
  readonly since: string
  readonly provider: string | undefined
  readonly category?: string | undefined
}

const share = (rate: number | null, isKnown: boolean): string =>
  rate === null || !isKnown ? NOTHING : percent(rate)

/** Draws a rate that has a limit: the scale ends at twice the limit. */
const limited = (rate: number | null, limit: number) => ({
  isBad: rate !== null && rate > limit,
  drawn: gauge({ share: rate ?? 0, limit, most: 2 * limit })
})

/** The figures of a period, each with its value in the previous one. `also`: more of them. */
export const mailFigures = (
  periods: Periods,
  { category, days, provider, since }: Asked,
  also: ReadonlyArray<Figure> = []
): Html => {
  const now = summarize(periods.now)
  const before = periods.before === undefined ? undefined : summarize(periods.before)
  // Rates are unknown until an event has come.
  const isKnown = hasEvents(now)
  const period = days === 1 ? "the day before" : `the ${days} days before`
  const then = (text: (summary: typeof now) => string) =>
    before === undefined ? undefined : `${text(before)} in ${period}`
  const past = (rate: "delivered" | "bounced" | "complained") =>
    then((summary) => share(summary.rates[rate], hasEvents(summary)))
  const asked = Object.fromEntries(
    Object.entries({ provider, category, since }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]]
    )
  )
  const log = (status: string, text: string) =>
    html`<a href="${pathTo.adminScreen("email-log", { ...(status === "" ? {} : { status }), ...asked })}">${text}</a>`
  const withLimit = (rate: "bounced" | "complained", limit: number) => ({
    value: share(now.rates[rate], isKnown),
    ...limited(now.rates[rate], limit),
    below: [`${number(now.byStatus[rate])} · limit ${percent(limit)}`, past(rate)]
      .filter((part) => part !== undefined)
      .join(" · ")
  })
  return figures([
    { name: log("", "Mails"), value: number(now.total), below: then(({ total }) => number(total)) },
    {
      name: log("delivered", "Delivered"),
      value: share(now.rates.delivered, isKnown),
      below: past("delivered")
    },
    { name: log("bounced", "Bounced"), ...withLimit("bounced", BOUNCES.above) },
    { name: log("complained", "Reported as spam"), ...withLimit("complained", COMPLAINTS.above) },
    {
      name: log("failed", "Failed"),
      value: number(now.byStatus.failed),
      below: then(({ byStatus }) => number(byStatus.failed))
    },
    {
      name: "Failed over",
      value: number(now.failedOver),
      below: then(({ failedOver }) => number(failedOver))
    },
    ...also
  ])
}
