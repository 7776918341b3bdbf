import type { Line, Report } from "./run.ts"

const whole = (value: number): string => Math.round(value).toLocaleString("en")

const verdict = ({ ratio, target, addedMs, maxAddedMs }: Line): string => {
  if (ratio === undefined || addedMs === undefined) return ""
  if (target === undefined && maxAddedMs === undefined) return ""
  return ratio < (target ?? 0) || addedMs > (maxAddedMs ?? Number.POSITIVE_INFINITY) ? "missed" : "met"
}

const targetOf = ({ target, maxAddedMs }: Line): string =>
  [
    ...(target === undefined ? [] : [`≥ ${target} ×`]),
    ...(maxAddedMs === undefined ? [] : [`≤ ${maxAddedMs} ms added`])
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
export const table = ({ lines }: Report): string =>
  markdown([
    ["", "callers", "a second", "p50 ms", "p99 ms", "CPU µs each", "ratio", "added ms", "target", ""],
    ...lines.map((line) => [
      line.name,
      String(line.concurrency),
      whole(line.sendsPerSecond),
      line.p50.toFixed(2),
      line.p99.toFixed(2),
      whole(line.cpuMicros),
      line.ratio?.toFixed(2) ?? "",
      line.concurrency === 1 ? (line.addedMs?.toFixed(2) ?? "") : "",
      targetOf(line),
      verdict(line)
    ])
  ])

/** Load averages as they are read. */
export const load = (averages: ReadonlyArray<number>): string =>
  averages.map((average) => average.toFixed(2)).join(" ")
