import type { Line, Report } from "./run.ts"

const whole = (value: number): string => Math.round(value).toLocaleString("en")

const verdict = ({
  ratio,
  target,
  addedMs,
  maxAddedMs,
  overHand = Number.POSITIVE_INFINITY
}: Line): string => {
  if (ratio === undefined || addedMs === undefined) return ""
  if (target === undefined && maxAddedMs === undefined) return ""
  const missed = ratio < (target ?? 0) || addedMs > (maxAddedMs ?? Number.POSITIVE_INFINITY) || overHand <= 1
  return missed ? "missed" : "met"
}

const targetOf = ({ target, maxAddedMs, overHand }: Line): string =>
  [
    ...(target === undefined ? [] : [`≥ ${target} ×`]),
    ...(maxAddedMs === undefined ? [] : [`≤ ${maxAddedMs} ms added`]),
    ...(overHand === undefined ? [] : ["> by hand"])
  ].join(", ")

/** Rows of cells as a Markdown table, padded so that it reads well in a terminal. */
export const markdown = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  )
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`
  return [lines[0]!, rule, ...lines.slice(1)].join("\n")
}

/** The table of a run. */
export const table = ({ lines }: Pick<Report, "lines">): string =>
  markdown([
    [
      "",
      "callers",
      "a second",
      "p50 ms",
      "p99 ms",
      "CPU µs each",
      "DB CPU µs",
      "ratio",
      "× by hand",
      "added ms",
      "target",
      ""
    ],
    ...lines.map((line) => [
      line.name,
      String(line.concurrency),
      whole(line.sendsPerSecond),
      line.p50.toFixed(2),
      line.p99.toFixed(2),
      whole(line.cpuMicros),
      line.databaseMicros === undefined ? "" : whole(line.databaseMicros),
      line.ratio?.toFixed(2) ?? "",
      line.overHand?.toFixed(2) ?? "",
      line.concurrency === 1 ? (line.addedMs?.toFixed(2) ?? "") : "",
      targetOf(line),
      verdict(line)
    ])
  ])

/** Load averages as they are read. */
export const load = (averages: ReadonlyArray<number>): string =>
  averages.map((average) => average.toFixed(2)).join(" ")
