import { mkdir, writeFile } from "node:fs/promises"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

import { batchTable, measureBatchMemory, memoryRatio } from "./batch/batch-memory.ts"
import { measureBatchSpeed } from "./batch/batch-speed.ts"
import { speedTable, tickTable } from "./batch/batch-tables.ts"
import { measureTicks } from "./batch/batch-ticks.ts"
import { dropTable, measureDrops } from "./conversion/drop.ts"
import { measureQuality, qualityTable } from "./conversion/layout-quality.ts"
import { layoutTable, measureLayout } from "./conversion/layout.ts"
import { measureMixedDay, mixedDayTable } from "./conversion/mixed-day.ts"
import { foreignManuals, measurePdf, pdfTable, tenthsTable } from "./conversion/pdf.ts"
import { measureServerMemory } from "./conversion/server-memory.ts"
import { measureStarts } from "./conversion/start-time.ts"
import { timeAdminLists } from "./delivery/admin-lists.ts"
import { foldEvents } from "./delivery/fold-events.ts"
import { intakeTables, measureIntake } from "./delivery/intake.ts"
import { measureMemory, type Sample } from "./memory.ts"
import { fullAmounts, QUICK } from "./queue/amounts.ts"
import { contendersHere } from "./queue/drains.ts"
import { measureQueue, QUEUE_PARTS } from "./queue/measure-queue.ts"
import { queueTables } from "./queue/queue-tables.ts"
import { load, markdown, table } from "./report.ts"
import { runBench } from "./run.ts"
import { measureScale, scaleTable } from "./scale/scale.ts"
import { EVENT_ROWS } from "./senders/recording.ts"

/**
 * `npm run bench [-- --quick] [-- --only PART,PART] [-- --memory]`: the tables of docs/explanation/performance.md, and JSON in
 * `bench-results/`. `--quick` shows that everything runs; its figures mean nothing. Instead of the tables, `--memory` sends
 * 200,000 mails, `--fold` folds 100,000 events of 20,000 mails in random order, `--admin` fills a log with 5,000,000 rows and reads it
 * (`--database URL`: on this one, a migrated one; a log that is filled is read as it is),
 * `--pdf` reads and splits PDFs of 500 and of 5,000 pages (50 and 500 MB) and sets the layout tier beside its peers (`--only
 * FILE,FILE`: on these documents too; `--pages 500,50000`: text documents of these lengths instead), `--batch` prepares beside splitting, collects beside
 * parsing and ticks over 10,000 open rows of the batch lane, and `--batch-memory` prepares and collects batches
 * of 5,000 and of 50,000 records (or `--records N,N`; the last takes 9 GB of the folder for temporary files, for a while).
 * `--scale` runs sends, webhooks, chunks and mails with 1, 2 and 4 processes on one PostgreSQL (`--database URL`: on this one, a migrated
 * and empty one, where pg_stat_statements may be loaded) and says what they wait for.
 * `--server-memory` converts `--documents N` PDFs of `--folder FOLDER`, or made ones, with one server and looks at its memory;
 * with `--serve` it is `serve` instead of `npm start`.
 * `--day` is a simulated day of mixed load by three owners, and says how long each waits beside a day alone.
 * `--queue` measures the send queue and the event hooks (`--only enqueue,drain,claim,door,hooks`: these parts), beside what one would
 * write by hand and beside other queues on PostgreSQL; River, a library of Go, where `go` is at hand.
 * `--intake` mails PDFs of 1, 10, 100 and 675 pages to a server, and then 200 at once; `--drop` drops such PDFs, and manuals, and says
 * when their first page can be read and when their result is there.
 */
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    memory: { type: "boolean", default: false },
    fold: { type: "boolean", default: false },
    admin: { type: "boolean", default: false },
    pdf: { type: "boolean", default: false },
    pages: { type: "string" },
    intake: { type: "boolean", default: false },
    drop: { type: "boolean", default: false },
    scale: { type: "boolean", default: false },
    queue: { type: "boolean", default: false },
    day: { type: "boolean", default: false },
    database: { type: "string" },
    "batch-memory": { type: "boolean", default: false },
    "server-memory": { type: "boolean", default: false },
    serve: { type: "boolean", default: false },
    documents: { type: "string", default: "300" },
    folder: { type: "string" },
    batch: { type: "boolean", default: false },
    records: { type: "string", default: "5000,50000" },
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

const runLongPdf = async (pages: string) => {
  const loadBefore = loadavg()
  const lines = measurePdf(pages.split(",").map(Number), { plain: true })
  console.log(tenthsTable(lines))
  console.log(`\nLoad averages before ${load(loadBefore)}, after ${load(loadavg())}`)
  await save("long-pdf", { node: process.version, loadBefore, loadAfter: loadavg(), lines })
}

const runPdf = async () => {
  if (values.pages !== undefined) return runLongPdf(values.pages)
  const loadBefore = loadavg()
  const lines = values.quick ? measurePdf([5, 20]) : measurePdf([500, 5_000], { others: foreignManuals() })
  console.log(pdfTable(lines))
  const manuals = [...foreignManuals(), ...(values.only?.split(",") ?? [])]
  const layout = values.quick ? [] : await measureLayout(manuals)
  console.log(`\n${layoutTable(layout)}`)
  const quality = await measureQuality(values.quick ? 1 : 6)
  console.log(`\n${qualityTable(quality)}`)
  console.log(`\nLoad averages before ${load(loadBefore)}, after ${load(loadavg())}`)
  await save("pdf", { node: process.version, loadBefore, loadAfter: loadavg(), lines, layout, quality })
}

const runBatch = async () => {
  const loadBefore = loadavg()
  const speed = await measureBatchSpeed(
    values.quick
      ? { pages: [20], others: [], outputs: [{ records: 200, echo: 20_000 }], rounds: 1 }
      : {
          pages: [600],
          others: foreignManuals(),
          outputs: [
            { records: 20_000, echo: 20_000 },
            { records: 5_000, echo: 90_000 },
            { records: 2_000, echo: 230_000 }
          ],
          rounds: 5
        }
  )
  console.log(`Load averages before ${load(loadBefore)}, after ${load(loadavg())}\n`)
  console.log(speedTable(speed))
  const ticks = await measureTicks(values.quick ? { rows: 300, times: 2 } : { rows: 10_000, times: 20 })
  console.log(`\n${tickTable(ticks)}`)
  await save("batch", { node: process.version, loadBefore, loadAfter: loadavg(), speed, ticks })
}

const runBatchMemory = async () => {
  const loadBefore = loadavg()
  const lines = measureBatchMemory(values.quick ? [50, 100] : values.records.split(",").map(Number))
  console.log(batchTable(lines))
  for (const step of ["prepare", "collect"] as const) {
    console.log(`\n${step}: the last peak is ${memoryRatio(lines, step).toFixed(2)} times the first`)
  }
  await save("batch-memory", { node: process.version, loadBefore, loadAfter: loadavg(), lines })
}

const runServerMemory = async () => {
  const loadBefore = loadavg()
  const { folder } = values
  const figures = await measureServerMemory({
    documents: values.quick ? 3 : Number(values.documents),
    serves: values.serve,
    ...(folder === undefined ? {} : { from: folder })
  })
  console.log(
    markdown([
      ["documents", "left out", "pages", "pages/s", "CPU ms a page", "start MB", "median MB", "peak MB"],
      [
        ...[figures.documents, figures.leftOut, figures.pages].map((count) => count.toLocaleString("en")),
        ...[figures.pages / figures.seconds, (figures.cpuSeconds * 1_000) / figures.pages].map((one) =>
          one.toFixed(1)
        ),
        ...[figures.startBytes, figures.medianBytes, figures.peakBytes].map(megabytes)
      ]
    ])
  )
  console.log(
    `\nPeaks by tenths of the run, MB: ${figures.tenths.map(megabytes).join(", ")}; results ${figures.digest}`
  )
  console.log(`Load averages before ${load(loadBefore)}, after ${load(loadavg())}`)
  await save("server-memory", { node: process.version, loadBefore, loadAfter: loadavg(), ...figures })
}

const runIntake = async () => {
  const loadBefore = loadavg()
  const figures = await measureIntake(
    values.quick ? { pages: [1], rounds: 1, burst: 5 } : { pages: [1, 10, 100, 675], rounds: 5, burst: 200 }
  )
  console.log(intakeTables(figures))
  await save("intake", {
    node: process.version,
    cpus: cpus().map(({ model }) => model),
    loadBefore,
    loadAfter: loadavg(),
    ...figures
  })
}

const runDrop = async () => {
  const loadBefore = loadavg()
  const times = await measureDrops(
    values.quick
      ? { pages: [1, 41], rounds: 1, manuals: false }
      : { pages: [1, 10, 100, 675], rounds: 5, manuals: true }
  )
  console.log(dropTable(times))
  console.log(`\nLoad averages before ${load(loadBefore)}, after ${load(loadavg())}`)
  await save("drop", { node: process.version, loadBefore, loadAfter: loadavg(), times })
}

const runDay = async () => {
  const lines = await measureMixedDay(values.quick ? { hours: 1, bulk: 10 } : { hours: 24, bulk: 250 })
  console.log(mixedDayTable(lines))
  await save("day", { node: process.version, lines })
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
  const times = await timeAdminLists({
    rows,
    times: 20,
    ...(values.database === undefined ? {} : { databaseUrl: values.database })
  })
  console.log(
    markdown([
      [`of ${rows.toLocaleString("en")} rows`, "median ms", "longest ms", "DB CPU ms"],
      ...times.map(({ databaseCpu, longest, median, read }) => [
        read,
        ...[median, longest, databaseCpu].map((ms) => ms?.toFixed(1) ?? "")
      ])
    ])
  )
  await save("admin", { node: process.version, loadBefore, loadAfter: loadavg(), rows, times })
}

const runScale = async () => {
  const loadBefore = loadavg()
  const lines = await measureScale({
    ...(values.quick
      ? { processes: [1, 2], round: { count: 64 }, chunks: 6_000 }
      : { processes: [1, 2, 4], round: { ms: Number(values.seconds) * 10_000 }, chunks: 300_000 }),
    ...(values.database === undefined ? {} : { databaseUrl: values.database }),
    onLine: ({ perSecond, processes, role }) =>
      console.error(`${role}, ${processes} processes: ${Math.round(perSecond)} a second`)
  })
  console.log(scaleTable(lines))
  console.log(`\nLoad averages before ${load(loadBefore)}, after ${load(loadavg())}`)
  await save("scale", { node: process.version, loadBefore, loadAfter: loadavg(), lines })
}

const runQueue = async () => {
  const loadBefore = loadavg()
  const contenders = await contendersHere()
  const only = values.only?.split(",")
  const report = await measureQueue({
    ...(values.quick ? QUICK : fullAmounts(Number(values.rounds), Number(values.seconds) * 1000)),
    parts: QUEUE_PARTS.filter((part) => only === undefined || only.includes(part)),
    contenders,
    onDrained: (name, perSecond) => console.error(`${name}: ${Math.round(perSecond)} mails a second`),
    ...(values.database === undefined ? {} : { databaseUrl: values.database })
  })
  console.log(queueTables(report))
  if (!contenders.includes("River (Go)")) console.log("\nRiver was left out: there is no go on this machine")
  console.log(`\nLoad averages before ${load(loadBefore)}, after ${load(loadavg())}`)
  await save("queue", { node: process.version, loadBefore, loadAfter: loadavg(), ...report })
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
        : values.batch
          ? runBatch()
          : values["batch-memory"]
            ? runBatchMemory()
            : values["server-memory"]
              ? runServerMemory()
              : values.intake
                ? runIntake()
                : values.drop
                  ? runDrop()
                  : values.scale
                    ? runScale()
                    : values.queue
                      ? runQueue()
                      : values.day
                        ? runDay()
                        : runTables())
