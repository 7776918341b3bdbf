import { mkdir, writeFile } from "node:fs/promises"
import { loadavg } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

import { timeAdminLists } from "./admin-lists.ts"
import { foldEvents } from "./fold-events.ts"
import { measureMemory, type Sample } from "./memory.ts"
import { foreignManuals, measurePdf, pdfTable } from "./pdf.ts"
import { load, markdown, table } from "./report.ts"
import { runBench } from "./run.ts"
import { EVENT_ROWS } from "./senders/recording.ts"
import { measureStarts } from "./start-time.ts"

/**
 * `npm run bench [-- --quick] [-- --only PART,PART] [-- --memory]`: the tables of docs/performance.md, and JSON in
 * `bench-results/`. `--quick` shows that everything runs; its figures mean nothing. Instead of the tables, `--memory` sends
 * 200,000 mails, `--fold` folds 100,000 events of 20,000 mails in random order, `--admin` reads a log of 5,000,000 rows,
 * and `--pdf` reads and splits PDFs of 500 and of 5,000 pages (50 and 500 MB).
 */
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    memory: { type: "boolean", default: false },
    fold: { type: "boolean", default: false },
    admin: { type: "boolean", default: false },
    pdf: { type: "boolean", default: false },
    only: { type: "string" },
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "9" }
  }
})

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1)

const memoryTable = (samples: ReadonlyArray<Sample>): string =>
  markdown([
    ["sends", "RSS MB", "heap after collection MB"],
    ...samples.map(({ sends, rss, heap }) => [sends.toLocaleString("en"), megabytes(rss), megabytes(heap)])
  ])

const save = async (name: string, content: object): Promise<void> => {
  const folder = fileURLToPath(new URL("../../bench-results", import.meta.url))
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${new Date().toISOString().replaceAll(":", "-")}-${name}.json`)
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`)
  console.log(`\nWritten to ${path}`)
}

const runMemory = async () => {
  const loadBefore = loadavg()
  const samples = await measureMemory({ sends: values.quick ? 1_000 : 200_000, samples: 10 })
  console.log(memoryTable(samples))
  await save("memory", { node: process.version, loadBefore, loadAfter: loadavg(), samples })
}

const runPdf = async () => {
  const loadBefore = loadavg()
  const lines = values.quick ? measurePdf([5, 20]) : measurePdf([500, 5_000], foreignManuals())
  console.log(pdfTable(lines))
  await save("pdf", { node: process.version, loadBefore, loadAfter: loadavg(), lines })
}

const runFold = async () => {
  const loadBefore = loadavg()
  const fold = await foldEvents({ sends: values.quick ? 1_000 : 20_000 })
  console.log(`${Math.round(fold.events / fold.seconds).toLocaleString("en")} events a second\n`)
  console.log(
    markdown([
      ["events", "RSS MB", "heap MB"],
      ...fold.samples.map(({ events, heap, rss }) => [
        events.toLocaleString("en"),
        megabytes(rss),
        megabytes(heap)
      ])
    ])
  )
  await save("fold", { node: process.version, loadBefore, loadAfter: loadavg(), fold })
}

const runAdmin = async () => {
  const loadBefore = loadavg()
  const rows = values.quick ? 20_000 : 5_000_000
  const times = await timeAdminLists({ rows, times: 20 })
  console.log(
    markdown([
      [`of ${rows.toLocaleString("en")} rows`, "median ms", "longest ms"],
      ...times.map(({ longest, median, read }) => [read, median.toFixed(1), longest.toFixed(1)])
    ])
  )
  await save("admin", { node: process.version, loadBefore, loadAfter: loadavg(), rows, times })
}

const runTables = async () => {
  const report = await runBench({
    ...(values.only === undefined ? {} : { only: values.only.split(",") }),
    ...(values.quick
      ? { rounds: 1, round: { count: 64 }, warmUp: { count: 1 }, suppressions: 1_000, eventRows: 1_000 }
      : {
          rounds: Number(values.rounds),
          round: { ms: Number(values.seconds) * 1000 },
          warmUp: { ms: 1_500 },
          suppressions: 100_000,
          eventRows: EVENT_ROWS
        }),
    processPerRow: !values.quick,
    onRound: (row, concurrency, { sends, seconds }) =>
      console.error(`${row}, ${concurrency} callers: ${Math.round(sends / seconds)} a second`)
  })
  const starts = values.only === undefined ? await measureStarts(values.quick ? 1 : 3) : undefined
  console.log(`Load averages before ${load(report.loadBefore)}, after ${load(report.loadAfter)}\n`)
  console.log(table(report))
  if (starts !== undefined) {
    console.log(
      `\nFrom npm start to ready: ${starts.newFolder.toFixed(2)} s on a new data folder (target < 6), ` +
        `${starts.warmFolder.toFixed(2)} s on a warm one (target < 3)`
    )
  }
  await save(values.quick ? "quick" : "bench", { ...report, starts })
}

await (values.memory
  ? runMemory()
  : values.fold
    ? runFold()
    : values.admin
      ? runAdmin()
      : values.pdf
        ? runPdf()
        : runTables())
