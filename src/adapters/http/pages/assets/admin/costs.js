import { ask } from "../api.js"
import { count, daysQuery, fillFigures, fillTable, showProblem, usd } from "./list.js"

/** @import { CostReport } from "#api" */
/** @import { Column } from "./list.js" */

/** @type {ReadonlyArray<Column<CostReport["sources"][number]>>} */
const columns = [
  { head: "Source", cell: ({ source }) => source },
  { head: "Entries", kind: "number", cell: ({ entries }) => count(entries) },
  { head: "Tokens in", kind: "number", cell: ({ inputTokens }) => count(inputTokens) },
  { head: "Tokens out", kind: "number", cell: ({ outputTokens }) => count(outputTokens) },
  { head: "Cost", kind: "number", cell: ({ costUsd }) => usd(costUsd) }
]

try {
  /** @type {CostReport} */
  const { batch, sources, totalUsd } = await ask("GET", `/api/admin/costs?${daysQuery()}`)
  fillFigures([
    ["All models", usd(totalUsd)],
    ["Batch jobs", count(batch.jobs)],
    ["Batch answers used", `${count(batch.served)} of ${count(batch.accepted)}`],
    ["Pages on demand instead", count(batch.fallback)],
    ["Cost of the batch", usd(batch.costUsd)],
    ["Saved by the batch", usd(batch.savedUsd)]
  ])
  fillTable(columns, sources, "Nothing was spent in this period.")
} catch (failure) {
  showProblem(failure)
}
