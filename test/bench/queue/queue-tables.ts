import { markdown, table } from "../report.ts"
import type { Report } from "../run.ts"
import type { QueueReport } from "./measure-queue.ts"

const whole = (value: number): string => Math.round(value).toLocaleString("en")
const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1)
const verdict = (isMet: boolean): string => (isMet ? "met" : "missed")

/** Most milliseconds of the median claim, and deliveries a second to one receiver. */
const CLAIM_MS = 2
const DELIVERIES = 2_000

/** Bytes that the heap may grow by while there is a backlog and count as flat. */
const FLAT = 8 * 1024 * 1024

const drainTable = ({ drain }: QueueReport): string =>
  markdown([
    ["worked off", "mails/s", "CPU µs each", "DB CPU µs", "send queue ×", "aim", ""],
    ...drain.map(({ aim, cpuMicros, databaseMicros, name, perSecond, queueRatio }) => [
      name,
      whole(perSecond),
      whole(cpuMicros),
      databaseMicros === undefined ? "" : whole(databaseMicros),
      queueRatio?.toFixed(2) ?? "",
      aim === undefined ? "" : `≥ ${aim}`,
      aim === undefined || queueRatio === undefined ? "" : verdict(queueRatio >= aim)
    ])
  ])

const claimTable = ({ claim }: QueueReport): string =>
  markdown([
    ["one claim", "requests", "p50 ms", "p99 ms", "rows read", "pages read", "aim", ""],
    ...claim.map(({ due, later, limit, p50, p99, pages, rows }) => [
      `${whole(due)} due, ${whole(later)} later`,
      whole(limit),
      p50.toFixed(2),
      p99.toFixed(2),
      whole(rows),
      whole(pages),
      `≤ ${CLAIM_MS} ms`,
      verdict(p50 <= CLAIM_MS)
    ])
  ])

const hookTable = ({ hooks }: QueueReport): string =>
  markdown([
    ["event hooks", "backlog", "deliveries/s", "heap at first MB", "largest MB", "aim", ""],
    ...hooks.map(({ backlog, firstHeap, largestHeap, perSecond, receivers }) => [
      receivers === 1 ? "one receiver" : `${whole(receivers)} receivers`,
      whole(backlog),
      whole(perSecond),
      megabytes(firstHeap),
      megabytes(largestHeap),
      receivers === 1 ? `≥ ${whole(DELIVERIES)}` : "flat",
      verdict(receivers === 1 ? perSecond >= DELIVERIES : largestHeap - firstHeap <= FLAT)
    ])
  ])

const doorTable = ({ door }: QueueReport): string =>
  markdown([
    ["from commit to the provider, queued by", "p50 ms", "p99 ms"],
    ...door.map(({ by, p50, p99 }) => [by, p50.toFixed(1), p99.toFixed(1)])
  ])

/** The tables of a run, those that have rows. */
export const queueTables = (report: QueueReport): string =>
  [
    ...(report.enqueue.length === 0
      ? []
      : [table({ lines: report.enqueue } satisfies Pick<Report, "lines">)]),
    ...(report.drain.length === 0 ? [] : [drainTable(report)]),
    ...(report.claim.length === 0 ? [] : [claimTable(report)]),
    ...(report.door.length === 0 ? [] : [doorTable(report)]),
    ...(report.hooks.length === 0 ? [] : [hookTable(report)])
  ].join("\n\n")
