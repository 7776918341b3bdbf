import { Effect, Layer, Schema } from "effect"

import { ALARMS } from "../../../domain/delivery/alarm-rules.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import {
  HealthBoard,
  MOST_WAITING,
  OPEN,
  type QueueName,
  QUEUES,
  SILENT_AFTER_SECONDS
} from "../../../ports/delivery/health-board.ts"
import { SUPERVISOR_STATES } from "../../../ports/readiness.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { slowReads, statements } from "../statement.ts"
import { timeColumn, toJsonText } from "../values.ts"
import { OVERDUE } from "./overdue-retries.ts"
import { dueRequests } from "./queue-measures.ts"

/** How many past episodes are shown. */
const PAST = 10

/** What a process of this version or another one has written. */
const Reported = {
  process: Schema.String,
  version: Schema.String,
  roles: Schema.Array(Schema.String),
  beganAt: Schema.String,
  ready: Schema.Boolean,
  checks: Schema.Array(
    Schema.Struct({ name: Schema.String, ok: Schema.Boolean, lastError: Schema.NullOr(Schema.String) })
  ),
  supervisors: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      state: Schema.Literals(SUPERVISOR_STATES),
      restarts: Schema.Int,
      lastRunAt: Schema.NullOr(Schema.String),
      lastError: Schema.NullOr(Schema.String)
    })
  )
}

const Facts = Schema.Struct({
  alarms: Schema.Array(
    Schema.Struct({ name: Schema.Literals(ALARMS), since: Schema.String, detail: Schema.String })
  ),
  past: Schema.Array(
    Schema.Struct({
      alarm: Schema.Literals(ALARMS),
      begunAt: Schema.String,
      endedAt: Schema.String,
      detail: Schema.String
    })
  ),
  queues: Schema.Array(
    Schema.Struct({
      name: Schema.Literals(QUEUES),
      waiting: Schema.Int,
      oldestAt: Schema.NullOr(Schema.String)
    })
  ),
  batch: Schema.Array(Schema.Struct({ state: Schema.String, count: Schema.Int })),
  spentUsd: Schema.Finite,
  newestMailAt: Schema.NullOr(Schema.String),
  processes: Schema.Array(Schema.Struct({ ...Reported, notedAt: Schema.String, isSilent: Schema.Boolean }))
})

/** How long a process that was killed is shown. */
const SHOWN_FOR = "1 hour"

/**
 * Waiting work, and since when. Retries: deferrals of the last day without a later row of their key, since a deferral's row stays
 * `deferred` after its retry has written another one (MAIL-53).
 */
const WAITING: Readonly<Record<QueueName, string>> = {
  retries: `select l.created_at as at from email_log l
    where l.status = 'deferred' and l.created_at > now() - interval '24 hours'
      and not exists (select from email_log later
        where later.key_hash = l.key_hash and (later.created_at, later.id) > (l.created_at, l.id))`,
  send_queue: `select at from ${dueRequests(MOST_WAITING)}`,
  event_hooks: "select next_at as at from event_hook_deliveries where state = 'pending' and next_at <= now()",
  alerts: "select claimed_at as at from email_alerts where due_at is not null",
  messages: "select created_at as at from contact_messages where notified_at is null and not spam",
  conversions: "select created_at as at from convert_queue",
  chunks: "select queued_at as at from chunk_jobs where status = 'pending'",
  batch: "select created_at as at from large_conversion_jobs where status = 'waiting_batch'",
  mails: "select received_at as at from intake_mails where step <> 'ended'",
  replies: "select created_at as at from intake_replies where status = 'queued'"
}

const queue = (name: QueueName): string =>
  `select '${name}' as name, count(*)::int as waiting, ${timeColumn('"oldestAt"', "min(at)")}
  from (${WAITING[name]} limit ${MOST_WAITING}) as x`

const READ = `select
  (select coalesce(jsonb_agg(x order by x.since), '[]') from (
    select name, ${timeColumn("since")}, detail from email_alarms where firing and name = any($1::text[])) as x) as alarms,
  (select coalesce(jsonb_agg(x order by x."endedAt" desc), '[]') from (
    select e.alarm, ${timeColumn('"begunAt"', "b.created_at")}, ${timeColumn('"endedAt"', "e.created_at")}, b.detail
    from email_alarm_notices e join email_alarm_notices b
      on b.alarm = e.alarm and b.episode = e.episode and b.kind = 'begun'
    where e.kind = 'ended' and e.alarm = any($1::text[])
    order by e.created_at desc limit ${PAST}) as x) as past,
  (select jsonb_agg(x) from (${QUEUES.map(queue).join(" union all ")}) as x) as queues,
  (select coalesce(jsonb_agg(x order by x.state), '[]') from (
    select state, count(*)::int as count from conversion_batch_jobs where state in ('preparing', 'submitted') group by 1
    union all
    select outcome, count(*)::int from conversion_batch_jobs where closed_at > now() - interval '1 day' group by 1) as x) as batch,
  (select coalesce(sum(cost_usd), 0)::float8 from cost_ledger
    where created_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC') as spent_usd,
  (select ${timeColumn("at", "created_at")} from email_log order by email_log.created_at desc, id desc limit 1) as newest_mail_at,
  (select coalesce(jsonb_agg(x.report || jsonb_build_object('process', x.process, 'notedAt', x.at, 'isSilent', x.silent)
      order by x.process collate "C"), '[]') from (
    select process, report, ${timeColumn("at", "noted_at")},
      noted_at < clock_timestamp() - interval '${SILENT_AFTER_SECONDS} seconds' as silent
    from process_reports where noted_at > clock_timestamp() - interval '${SHOWN_FOR}') as x) as processes`

/** With what others have left. */
const NOTE = `with gone as (
  delete from process_reports where process <> $1 and noted_at < clock_timestamp() - interval '${SHOWN_FOR}'
)
insert into process_reports (process, report) values ($1, $2::jsonb)
on conflict (process) do update set report = excluded.report, noted_at = clock_timestamp()`

const Seconds = Schema.Finite
const counted = <const S extends ReadonlyArray<string>>(states: S) =>
  Schema.Array(Schema.Struct({ state: Schema.Literals(states), count: Schema.Int }))

const Figured = Schema.Struct({
  queues: Schema.Array(
    Schema.Struct({ name: Schema.Literals(QUEUES), waiting: Schema.Int, oldestSeconds: Seconds })
  ),
  overdueRetries: Schema.Int,
  jobs: counted(OPEN.jobs),
  chunks: counted(OPEN.chunks),
  batchJobs: counted(OPEN.batchJobs),
  newestEvents: Schema.Array(Schema.Struct({ provider: Provider, ageSeconds: Seconds }))
})

const secondsSince = (moment: string) =>
  `greatest(0, coalesce(extract(epoch from clock_timestamp() - ${moment}), 0))::float8`

const listOf = (rows: string) => `(select coalesce(jsonb_agg(x), '[]') from (${rows}) as x)`

/** Each state by its own index scan, bounded: jobs that are over are many. */
const countsOf = (table: string, column: string, states: ReadonlyArray<string>) =>
  listOf(
    states
      .map(
        (state) =>
          `select '${state}' as state, count(*)::int as count
          from (select from ${table} where ${column} = '${state}' limit ${MOST_WAITING}) as y`
      )
      .join(" union all ")
  )

const FIGURES = `select
  ${listOf(
    QUEUES.map(
      (
        name
      ) => `select '${name}' as name, count(*)::int as waiting, ${secondsSince("min(at)")} as "oldestSeconds"
        from (${WAITING[name]} limit ${MOST_WAITING}) as y`
    ).join(" union all ")
  )} as queues,
  ${OVERDUE} as overdue_retries,
  ${countsOf("large_conversion_jobs", "status", OPEN.jobs)} as jobs,
  ${countsOf("chunk_jobs", "status", OPEN.chunks)} as chunks,
  ${countsOf("conversion_batch_jobs", "state", OPEN.batchJobs)} as batch_jobs,
  ${listOf(`select provider, ${secondsSince("heard_at")} as "ageSeconds" from event_intakes`)} as newest_events`

const writes = statements()

/** The state of the installation in Postgres. `budgetUsd`: what models may cost a day. */
export const layer = (budgetUsd: number | undefined): Layer.Layer<HealthBoard, never, SlowSql | WriteSql> =>
  Layer.effect(
    HealthBoard,
    Effect.gen(function* () {
      const sql = yield* SlowSql
      const write = yield* WriteSql
      return HealthBoard.of({
        read: Effect.map(slowReads.one("healthBoard", Facts, sql.unsafe(READ, [ALARMS])), (facts) => ({
          ...facts,
          budgetUsd
        })),
        figures: slowReads.one("figures", Figured, sql.unsafe(FIGURES)),
        note: ({ process, ...report }) =>
          writes.done("noteProcess", write.unsafe(NOTE, [process, toJsonText(report)])),
        leave: (process) =>
          writes.done("leaveProcess", write`delete from process_reports where process = ${process}`)
      })
    })
  )
