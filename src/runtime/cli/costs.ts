import { Effect } from "effect"
import { Command, Flag } from "effect/cli"

import * as Report from "../../adapters/postgres/conversion/job-report.ts"
import { type CostReport, JobReport, MAX_COST_DAYS } from "../../ports/conversion/job-report.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { type Column, layoutTable, counted } from "./table.ts"

const DEFAULT_DAYS = 30

const days = Flag.Int("days").pipe(
  Flag.withAlias("d"),
  Flag.withDescription(`Days in UTC, the last of which is today, 1 to ${MAX_COST_DAYS}`),
  Flag.filter(
    (count) => count >= 1 && count <= MAX_COST_DAYS,
    () => `must be from 1 to ${MAX_COST_DAYS}`
  ),
  Flag.withDefault(DEFAULT_DAYS)
)

const usd = (amount: number): string => `${amount < 0 ? "-" : ""}$${Math.abs(amount).toFixed(4)}`

type Source = CostReport["sources"][number]

const COLUMNS: ReadonlyArray<Column<Source>> = [
  { title: "SOURCE", cell: ({ source }) => source, flexible: true },
  { title: "ENTRIES", cell: ({ entries }) => String(entries) },
  { title: "TOKENS IN", cell: ({ inputTokens }) => String(inputTokens) },
  { title: "TOKENS OUT", cell: ({ outputTokens }) => String(outputTokens) },
  { title: "COST", cell: ({ costUsd }) => usd(costUsd) }
]

/** What the batch lane saved, in a sentence. */
const batchLine = ({
  accepted,
  costUsd,
  fallback,
  jobs,
  onDemandUsd,
  savedUsd,
  served
}: CostReport["batch"]): string =>
  `Batch lane: ${counted(jobs, "job")}, ${served} of ${counted(accepted, "page")} reused, ${fallback} fell back. It cost ${usd(costUsd)}; all ` +
  `of them would have cost ${usd(onDemandUsd)} on demand: ${usd(savedUsd)} saved.`

/** `postlane costs`. */
export const costs = Command.make("costs", { days }, (input) =>
  telling(
    Effect.gen(function* () {
      const report = yield* onDatabase(() =>
        JobReport.use((jobs) => jobs.costs(input.days)).pipe(
          Effect.provide(Report.layer),
          Effect.catchTag("StoreUnavailable", (error) =>
            Effect.logDebug("the ledger does not answer", error).pipe(
              Effect.andThen(
                Effect.fail(
                  new CommandFailed({ message: "The ledger does not answer now. See: postlane doctor" })
                )
              )
            )
          )
        )
      )
      const table = layoutTable(COLUMNS, report.sources, (yield* Shell).columns)
      yield* print({
        json: report,
        text: [
          `Models cost ${usd(report.totalUsd)} since ${report.from} (UTC).`,
          ...(table.heading === undefined || report.sources.length === 0 ? [] : [table.heading]),
          ...report.sources.map(table.line),
          batchLine(report.batch)
        ].join("\n")
      })
    })
  )
).pipe(
  Command.withDescription("What models cost, by source, and what the batch lane saved against on demand.")
)
