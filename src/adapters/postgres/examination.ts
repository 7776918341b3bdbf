import { Clock, Effect, type FileSystem, type Path, Result } from "effect"
import { SqlClient } from "effect/sql"

import type { DatabaseFacts } from "../../domain/doctor/database.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { dueRequests } from "./delivery/queue-measures.ts"
import { label, type MigrationFiles } from "./migration-files.ts"
import { pending } from "./migrator.ts"
import { reasonOf } from "./statement.ts"

/** A consumer takes what is due within seconds. */
const DUE_MINUTES = 2

/** Longer than any visibility time in use: by then no consumer holds the message. */
const HELD_MINUTES = 15

/** Due and unclaimed messages of all queues; empty before the table exists. */
const waitingMessages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`select to_regclass('email_defer_queue') is not null as found`.unprepared
  if (found?.["found"] !== true) return []
  return yield* sql<{ readonly queue: string; readonly due: number }>`
    select queue_name as queue, count(*)::int as due from email_defer_queue
    where state = 'pending' and visible_at < now() - ${DUE_MINUTES}::int * interval '1 minute'
      and (acquired_at is null or acquired_at < now() - ${HELD_MINUTES}::int * interval '1 minute')
    group by queue_name order by queue_name`.unprepared
})

/** Due mails of the send queue, while no sender took or ended one and nobody holds them back. */
const unsentMails = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const recent = `now() - interval '${DUE_MINUTES} minutes'`
  const [found] = yield* sql.unsafe<{ readonly count: number }>(`
    select count(*)::integer as count from ${dueRequests(1000)}
    where due.at < ${recent}
      and not exists (select from email_queue_pauses p where p.scope in ('*', (email_queue_lanes())[due.lane]))
      and not exists (select from email_pace x where x.held_until > ${recent})
      and not exists (select from email_send_queue q where q.ended_at > ${recent})
      and not exists (select from email_send_queue q where q.state = 'sending' and q.due_at > now())`)
    .unprepared
  return found?.count ?? 0
}).pipe(
  // A database that is not migrated has no such table, which the migrations' verdict says.
  Effect.catch(() => Effect.succeed(0))
)

/** Why a migrated database does not take what a send writes: a standby, a full disk. As readiness asks. */
const whyUnwritable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tried = yield* Effect.result(sql`select check_that_mail_can_be_written('doctor')`.unprepared)
  return Result.isFailure(tried) ? failureText(reasonOf(tried.failure)) : undefined
})

/** Reads the database's version, its migrations (compared with this version's) and its clock. */
export const examineDatabase = (
  files: MigrationFiles
): Effect.Effect<DatabaseFacts, never, SqlClient.SqlClient | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // The first statement also connects; that time must not count as clock difference.
    yield* sql`select 1`.unprepared
    const before = yield* Clock.currentTimeMillis
    const [row] = yield* sql<{ readonly version: number; readonly now: number }>`select
      current_setting('server_version_num')::int as version,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.unprepared
    const after = yield* Clock.currentTimeMillis
    const migrations = yield* pending(files).pipe(
      Effect.map(({ functions, missing, newer }) => ({
        _tag: "Pending" as const,
        names: missing.map(label),
        functions,
        newer
      })),
      Effect.catch(({ message, remedy }) => Effect.succeed({ _tag: "Broken" as const, why: message, remedy }))
    )
    const waiting = yield* waitingMessages
    const waitingMails = yield* sql<{
      readonly count: number
    }>`select count(*)::integer as count from intake_mails
      where step <> 'ended' and not_before < clock_timestamp() - interval '15 minutes'
        and (lease is null or heartbeat_at < clock_timestamp() - interval '15 minutes')`.unprepared.pipe(
      Effect.map(([found]) => found?.count ?? 0),
      // A database that is not migrated has no such table, which the migrations' verdict says.
      Effect.catch(() => Effect.succeed(0))
    )
    const isMigrated =
      migrations._tag === "Pending" && migrations.names.length + migrations.functions.length === 0
    return {
      _tag: "Reached" as const,
      unwritable: isMigrated ? yield* whyUnwritable : undefined,
      waitingMails,
      unsentMails: yield* unsentMails,
      version: row!.version,
      migrations,
      skewMs: row!.now - (before + after) / 2,
      uncertaintyMs: (after - before) / 2,
      waiting
    }
  }).pipe(
    Effect.catch((cause) =>
      Effect.succeed<DatabaseFacts>({ _tag: "Unreachable", why: failureText(reasonOf(cause)) })
    )
  )
