import { Context, Effect, Layer, Redacted } from "effect"

import { layer as clients, layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer as layerLog } from "../../../src/adapters/postgres/delivery/email-log-query.ts"
import { closeStatsDays, layer as layerStats } from "../../../src/adapters/postgres/delivery/email-stats.ts"
import { layer as layerBoard } from "../../../src/adapters/postgres/delivery/health-board.ts"
import { layer as layerStories } from "../../../src/adapters/postgres/delivery/mail-stories.ts"
import type { EmailLogSearch } from "../../../src/domain/delivery/email-log-row.ts"
import { EmailLogQuery, EmailStats } from "../../../src/ports/delivery/email-log-query.ts"
import { HealthBoard } from "../../../src/ports/delivery/health-board.ts"
import { MailStories } from "../../../src/ports/delivery/mail-stories.ts"
import { databaseCpu } from "../database-cpu.ts"
import { median } from "../measure.ts"
import { startDatabase } from "../process.ts"
import { fillLog, vacuumLog, WRITERS } from "./fill-log.ts"

/** One read of the admin's: how long it took, and the database's processor time, milliseconds. */
export interface AdminTime {
  readonly read: string
  readonly median: number
  readonly longest: number
  /** Undefined where it cannot be read. */
  readonly databaseCpu: number | undefined
}

/** Reads the processor time of the database. */
class DatabaseCpu extends Context.Service<DatabaseCpu, { readonly micros: (() => number) | undefined }>()(
  "postlane/bench/DatabaseCpu"
) {}

const FILTERS: ReadonlyArray<EmailLogSearch> = [
  {},
  { status: "bounced" },
  { status: "deferred" },
  { category: "alert" },
  { provider: "provider_b" },
  { recipient: "person4711@host11.example" },
  { recipient: "copy17@host1.example" },
  { recipient: "nobody@example.com" },
  { key: "order-4711" },
  { status: "failed", category: "alert", provider: "provider_b" },
  { status: "complained", recipient: "copy17@host1.example" },
  { by: "mail" },
  { by: "mail", status: "bounced" },
  { by: "mail", recipient: "person4711@host11.example" },
  ...[
    "person4711@host11.example",
    "copy17@host1.example",
    "nobody@example.com",
    "order-4711",
    "person47117@",
    "person4711",
    "host db-77",
    "nothing of the kind"
  ].map((search) => ({ search }))
]

/** Parts of subjects: one that many mails have, some that few have, one that none has, and one that trigrams cannot answer. */
const SUBJECTS = ["has shipped", "order 47117", "host db-77", "nothing of the kind", "-7"]

/** Most that a count of the admin pages tells. */
const MOST_COUNTED = 1000

/** Days of the log that are kept where it is pruned. */
const KEPT_DAYS = 350

const summary = (
  read: string,
  calls: ReadonlyArray<{ readonly ms: number; readonly cpu: number | undefined }>
): AdminTime => {
  const all = calls.map(({ ms }) => ms)
  const cpu = calls.flatMap((call) => call.cpu ?? [])
  return {
    read,
    median: median(all),
    longest: Math.max(...all),
    databaseCpu: cpu.length === 0 ? undefined : median(cpu)
  }
}

const timedOnce = Effect.fnUntraced(function* <A, E, R>(use: Effect.Effect<A, E, R>) {
  const { micros } = yield* DatabaseCpu
  const [cpu, started] = [micros?.(), performance.now()]
  const found = yield* use
  const ms = performance.now() - started
  return { found, ms, cpu: cpu && micros && (micros() - cpu) / 1000 }
})

const timed = (times: number) =>
  Effect.fnUntraced(function* <A, E, R>(read: string, use: Effect.Effect<A, E, R>) {
    return summary(read, yield* Effect.replicateEffect(timedOnce(use), times))
  })

/** Pages and counts of every filter: the newest rows, and those half a year back. */
const readLists = Effect.fnUntraced(function* (times: number) {
  const { count, counts, page } = yield* EmailLogQuery
  const halfYear = new Date(Date.now() - 183 * 86_400_000).toISOString().slice(0, 10)
  const { nextCursor: ofRows } = yield* page({ limit: 50, until: halfYear })
  const { nextCursor: ofMails } = yield* page({ limit: 50, until: halfYear, by: "mail" })
  const of = timed(times)
  return yield* Effect.forEach(FILTERS, (filter) => {
    // A cursor of mails says as of when they are listed, too.
    const cursor = filter.by === "mail" ? ofMails : ofRows
    return Effect.all([
      of(`page ${JSON.stringify(filter)}`, page({ limit: 50, ...filter })),
      ...(cursor === null
        ? []
        : [of(`page ${JSON.stringify(filter)}, half a year back`, page({ limit: 50, ...filter, cursor }))]),
      of(`count ${JSON.stringify(filter)}`, count(filter, MOST_COUNTED)),
      of(`counts by status ${JSON.stringify(filter)}`, counts(filter, MOST_COUNTED))
    ])
  })
})

const readSubjects = Effect.fnUntraced(function* (times: number, how: string) {
  const { count, page } = yield* EmailLogQuery
  const of = timed(times)
  return yield* Effect.forEach(SUBJECTS, (subject) =>
    Effect.all([
      of(`page "${subject}", ${how}`, page({ limit: 50, subject })),
      of(`count "${subject}", ${how}`, count({ subject }, MOST_COUNTED))
    ])
  )
})

const INDEX = "email_log_subject"

/** Searches by a part of the subject, with trigrams where there are any, and without. */
const searchSubjects = Effect.fnUntraced(function* (times: number) {
  const sql = yield* WriteSql
  const found = yield* sql<{ readonly one: number }>`select 1 as one where to_regclass(${INDEX}) is not null`
  if (found.length === 0) return yield* readSubjects(times, "no trigrams")
  const indexed = yield* readSubjects(times, "trigrams")
  // The product looks for the index by its name.
  yield* sql.unsafe(`alter index ${INDEX} rename to hidden_subject`).unprepared
  const bare = yield* readSubjects(times, "no trigrams")
  yield* sql.unsafe(`alter index hidden_subject rename to ${INDEX}`).unprepared
  return [...indexed, ...bare]
})

const readStory = Effect.fnUntraced(function* (times: number) {
  const { rows } = yield* EmailLogQuery.use(({ page }) => page({ limit: 1, key: "order-4712" }))
  const row = rows[0]
  return row === undefined
    ? []
    : [
        yield* timed(times)(
          "the story of a mail",
          MailStories.use((stories) => stories.of(row.id))
        )
      ]
})

/** What the overview reads besides statistics of days. */
const readOverview = Effect.fnUntraced(function* (times: number) {
  const { read } = yield* HealthBoard
  const { lastHours } = yield* EmailStats
  const of = timed(times)
  return [
    yield* of("the state of the installation", read),
    yield* of("mails by the hour, two days", lastHours)
  ]
})

const countStats = Effect.fnUntraced(function* (times: number, how: string) {
  const { since } = yield* EmailStats
  return yield* Effect.forEach([1, 30, 366], (days) =>
    timed(times)(`statistics of ${days} days, ${how}`, since(days))
  )
})

/** Most calls of the pruning that are timed. */
const PRUNINGS = 20

/** The log's oldest days, as the leader prunes them: each call deletes some, and the next goes on behind it. */
const prune = Effect.gen(function* () {
  const sql = yield* WriteSql
  const call = timedOnce(sql`select prune_email_log(make_interval(days => ${KEPT_DAYS}::int), 5000)`)
  return summary(`each of ${PRUNINGS} prunings of 5,000 rows`, yield* Effect.replicateEffect(call, PRUNINGS))
})

const readAll = (times: number) =>
  Effect.gen(function* () {
    const lists = (yield* readLists(times)).flat()
    const subjects = (yield* searchSubjects(times)).flat()
    const story = yield* readStory(times)
    const overview = yield* readOverview(times)
    const live = yield* countStats(Math.min(times, 5), "no day rolled up")
    const closing = yield* timed(1)("rolling up a year, once", closeStatsDays)
    const closed = yield* countStats(times, "rolled up")
    return [...lists, ...subjects, ...story, ...overview, ...live, closing, ...closed, yield* prune]
  })

/** Fills an empty log with so many rows, or takes a log that is filled as it is, and times each kind of read. */
export const timeAdminLists = async (options: {
  readonly rows: number
  readonly times: number
  readonly databaseUrl?: string
}): Promise<ReadonlyArray<AdminTime>> => {
  const database = await startDatabase(options.databaseUrl)
  try {
    const url = Redacted.make(database.url)
    const isEmpty = WriteSql.use((sql) => sql`select 1 from email_log limit 1`).pipe(
      Effect.map((rows) => rows.length === 0)
    )
    if (await Effect.runPromise(Effect.provide(isEmpty, layerSingle({ url })))) {
      const started = performance.now()
      await Effect.runPromise(
        Effect.provide(fillLog(options.rows), clients({ url, maxWriteConnections: WRITERS }))
      )
      await Effect.runPromise(Effect.provide(vacuumLog, layerSingle({ url })))
      console.error(`filled in ${Math.round((performance.now() - started) / 1000)} s`)
    }
    const micros = await databaseCpu(Redacted.value(url))
    const layers = Layer.mergeAll(
      layerLog,
      layerStats,
      layerStories,
      layerBoard(undefined),
      Layer.succeed(DatabaseCpu, { micros })
    )
    return await Effect.runPromise(
      Effect.provide(readAll(options.times), Layer.provideMerge(layers, clients({ url })))
    )
  } finally {
    await database.stop()
  }
}
