import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { measureMixedDay, mixedDayTable } from "./conversion/mixed-day.ts"
import { timeAdminLists } from "./delivery/admin-lists.ts"
import { foldEvents } from "./delivery/fold-events.ts"
import { QUICK } from "./queue/amounts.ts"
import { CONTENDERS } from "./queue/contenders.ts"
import { measureQueue, QUEUE_PARTS } from "./queue/measure-queue.ts"
import { queueTables } from "./queue/queue-tables.ts"
import { table } from "./report.ts"
import { ROWS } from "./rows.ts"
import { runBench } from "./run.ts"
import { measureScale, scaleTable } from "./scale/scale.ts"

it.live("every row of the benchmark runs, and its table holds it", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const report = yield* Effect.promise(() =>
      runBench({
        rounds: 1,
        round: { count: 2 },
        processPerRow: false,
        suppressions: 10,
        eventRows: 10,
        databaseUrl: url
      })
    )
    const rows = ROWS.flatMap(({ name, baseline, concurrencies }) =>
      concurrencies.map((concurrency) => ({ name, concurrency, compared: baseline !== undefined }))
    )
    assert.deepStrictEqual(
      report.lines.map(({ name, concurrency, ratio }) => ({
        name,
        concurrency,
        compared: ratio !== undefined
      })),
      rows
    )
    for (const line of report.lines) {
      const numbers = [line.sendsPerSecond, line.p50, line.p99, line.cpuMicros]
      assert.isTrue(numbers.every(Number.isFinite), JSON.stringify(line))
    }
    // Its header and the rule under it.
    assert.lengthOf(table(report).split("\n"), rows.length + 2)
  }).pipe(Effect.provide(layerDatabase))
)

it.live("events in random order are folded", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const fold = yield* Effect.promise(() => foldEvents({ sends: 20, databaseUrl: url }))
    assert.deepStrictEqual([fold.events, fold.samples.length], [100, 10])
  }).pipe(Effect.provide(layerDatabase))
)

it.live("processes of each role work beside each other, and it is said what they wait for", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const lines = yield* Effect.promise(() =>
      measureScale({ processes: [1], round: { count: 8 }, chunks: 3_000, databaseUrl: url })
    )
    assert.lengthOf(lines, 4)
    for (const line of lines) assert.isAbove(line.perSecond, 0, line.role)
    const chunks = lines.find(({ role }) => role === "chunks")
    assert.isAbove(chunks?.connections ?? 0, 0, JSON.stringify(lines))
    assert.lengthOf(scaleTable(lines).split("\n"), lines.length + 2)
  }).pipe(Effect.provide(layerDatabase))
)

it.live("the send queue is measured beside other queues, and the event hooks", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    // River takes a compiler of Go and its packages.
    const contenders = (Object.keys(CONTENDERS) as ReadonlyArray<keyof typeof CONTENDERS>).filter(
      (name) => name !== "River (Go)"
    )
    const report = yield* Effect.promise(() =>
      measureQueue({ ...QUICK, parts: QUEUE_PARTS, contenders, databaseUrl: url })
    )
    assert.deepStrictEqual(
      report.drain.map(({ name }) => name),
      contenders
    )
    const figures = [
      ...report.enqueue.map(({ sendsPerSecond }) => sendsPerSecond),
      ...report.drain.map(({ perSecond }) => perSecond),
      ...report.claim.flatMap(({ p50, pages, rows }) => [p50, pages, rows]),
      ...report.door.map(({ p50 }) => p50),
      ...report.hooks.flatMap(({ firstHeap, perSecond }) => [firstHeap, perSecond])
    ]
    for (const figure of figures) assert.isAbove(figure, 0, JSON.stringify(report))
    assert.lengthOf(queueTables(report).split("\n\n"), QUEUE_PARTS.length)
  }).pipe(Effect.provide(layerDatabase))
)

it.live("the admin's reads are timed", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const times = yield* Effect.promise(() => timeAdminLists({ rows: 100, times: 1, databaseUrl: url }))
    assert.isTrue(times.every(({ longest, median }) => median > 0 && longest >= median))
  }).pipe(Effect.provide(layerDatabase))
)

it.live("a day of mixed load is simulated: no owner waits for the end of another's order", () =>
  Effect.gen(function* () {
    const lines = yield* Effect.promise(() => measureMixedDay({ hours: 1, bulk: 10 }))
    assert.deepStrictEqual(
      lines.map(({ load, pieces }) => [load, pieces]),
      [
        ["bulk", 10],
        ["pages", 6],
        ["mails", 6]
      ]
    )
    const [bulk, pages, mails] = lines
    // The time of this world is virtual: the figures are those of its seed, whatever the machine does.
    assert.isBelow(pages!.longest, bulk!.longest / 2)
    assert.isBelow(mails!.longest, bulk!.longest / 2)
    assert.lengthOf(mixedDayTable(lines).split("\n"), lines.length + 2)
  })
)
