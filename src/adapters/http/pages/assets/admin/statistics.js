import { ask } from "../api.js"
import { REPORTED_STATUSES } from "../words.js"
import { count, daysQuery, fillFigures, fillTable, NOTHING, percent, showProblem, usd } from "./list.js"

/** @import { EmailStatsRow, EmailStatsTotals, Operations } from "#api" */
/** @import { Column } from "./list.js" */

/** A rate; a dash where no event has come, since it is unknown then. @param {EmailStatsTotals} summary @param {number | null} rate */
const known = ({ byStatus }, rate) =>
  REPORTED_STATUSES.some((status) => byStatus[status] > 0) ? percent(rate) : NOTHING

/** @type {ReadonlyArray<Column<EmailStatsRow>>} */
const columns = [
  { head: "Day", kind: "short", cell: ({ day }) => day },
  { head: "Category", kind: "short", cell: ({ category }) => category },
  { head: "Provider", kind: "short", cell: ({ provider }) => provider ?? NOTHING },
  { head: "Mails", kind: "number", cell: ({ total }) => count(total) },
  { head: "Delivered", kind: "number", cell: (day) => known(day, day.rates.delivered) },
  { head: "Not delivered", kind: "number", cell: ({ undelivered }) => count(undelivered) },
  { head: "Bounced", kind: "number", cell: (day) => known(day, day.rates.bounced) },
  { head: "Complained", kind: "number", cell: (day) => known(day, day.rates.complained) },
  { head: "Failed over", kind: "number", cell: ({ failedOver }) => count(failedOver) },
  { head: "Cost", kind: "number", cell: ({ costUsd }) => usd(costUsd) }
]

try {
  /** @type {Operations["stats.emailStats"]["success"]} */
  const { rows, totals } = await ask("GET", `/api/admin/email-stats?${daysQuery()}`)
  fillFigures([
    ["Mails", count(totals.total)],
    ["Delivered", known(totals, totals.rates.delivered)],
    ["Bounced", known(totals, totals.rates.bounced)],
    ["Complained", known(totals, totals.rates.complained)],
    ["Failed", count(totals.byStatus.failed)],
    ["Failed over", count(totals.failedOver)],
    ["Cost", usd(totals.costUsd)]
  ])
  fillTable(columns, rows, "No mail in this period.")
} catch (failure) {
  showProblem(failure)
}
