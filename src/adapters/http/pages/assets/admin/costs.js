import { ask } from "../api.js"
import { count, daysQuery, fillFigures, fillTable, showProblem, usd } from "./list.js"

/**
 * @typedef {{ readonly source: string, readonly entries: number, readonly inputTokens: number, readonly outputTokens: number, readonly costUsd: number }} Source
 * @typedef {{ readonly jobs: number, readonly accepted: number, readonly served: number, readonly fallback: number, readonly costUsd: number, readonly onDemandUsd: number, readonly savedUsd: number }} Batch
 */

/** @type {ReadonlyArray<import("./list.js").Column<Source>>} */
const columns = [
  { head: "Source", cell: ({ source }) => source },
  { head: "Entries", kind: "number", cell: ({ entries }) => count(entries) },
  { head: "Tokens in", kind: "number", cell: ({ inputTokens }) => count(inputTokens) },
  { head: "Tokens out", kind: "number", cell: ({ outputTokens }) => count(outputTokens) },
  { head: "Cost", kind: "number", cell: ({ costUsd }) => usd(costUsd) }
]

try {
  /** @type {{ readonly totalUsd: number, readonly sources: ReadonlyArray<Source>, readonly batch: Batch }} */
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
