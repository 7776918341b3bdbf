import { Effect, Layer, Schema } from "effect"

import { ALARM_SOURCE } from "../../../application/delivery/alarms.ts"
import {
  ALARMS,
  type AlarmTable,
  alarmTable,
  CLOCK_NOTED_MINUTES,
  FAILOVER_WINDOW_MINUTES,
  type Measures,
  QUIET,
  RATE_WINDOW_HOURS,
  RECENT_MINUTES,
  SILENCE_AFTER_MINUTES
} from "../../../domain/delivery/alarm-rules.ts"
import { MAX_CHANNEL_TRIES } from "../../../domain/delivery/alert-policy.ts"
import {
  isPolled,
  type Provider,
  ReportingProvider,
  REVIEWING_PROVIDER
} from "../../../domain/mail/provider.ts"
import { AlarmBoard } from "../../../ports/delivery/alarm-board.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { Absent } from "../values.ts"
import { documentColumns, DOCUMENT_MEASURES, documentsOf } from "./document-measures.ts"
import { OVERDUE } from "./overdue-retries.ts"
import { QUEUE_MEASURES, queueColumns } from "./queue-measures.ts"

/** How far back silence is looked for. */
const SILENCE_WINDOW_HOURS = 24

/** Most silent sends that are counted: the alarm needs no more. */
const MAX_SILENT = 1_000

const Counted = Schema.Struct({
  at: Schema.Finite,
  failovers: Schema.Int,
  sends: Schema.Int,
  bounced: Schema.Int,
  complained: Schema.Int,
  byFallback: Schema.Int,
  byPrimary: Schema.Int,
  deferred: Schema.Int,
  failed: Schema.Int,
  unclaimed: Schema.Int,
  overdue: Schema.Int,
  processOffMs: Schema.Finite,
  databaseBackMs: Schema.Finite,
  silent: Schema.Record(ReportingProvider, Schema.Int),
  unanswered: Schema.Int,
  hooksOff: Schema.Int,
  hooksPending: Schema.Int,
  hooksDead: Schema.Int,
  hooksOldest: Schema.Finite,
  ...queueColumns,
  ...documentColumns
})

const Alarm = Schema.Struct({
  name: Schema.String,
  firing: Schema.Boolean,
  episode: Schema.Int,
  calmSince: Absent(Schema.Finite)
})

const Notice = Schema.Struct({
  alarm: Schema.Literals(ALARMS),
  episode: Schema.Int,
  kind: Schema.Literals(["begun", "ended"]),
  detail: Schema.String,
  at: Schema.Finite,
  taken: Schema.Array(Schema.String),
  goesTo: Absent(Schema.Array(Schema.String))
})

const ask = statements()

/** Events of the last minutes may not be noted yet: a process notes them twice a minute, the table keeps one a minute. */
const NOTED_WITHIN_MINUTES = 2

/** The send that the newest event of a provider is about. */
const newestWithEvent = (provider: Provider) => `(
  select e.created_at from email_log e
  where e.provider = '${provider}' and e.last_event is not null
    and e.created_at > now() - interval '${SILENCE_WINDOW_HOURS} hours'
  order by e.created_at desc, e.id desc limit 1
)`

/** When a webhook last brought an event: rows cannot show that the webhook is dead where a poll also records events. */
const webhookHeard = (provider: Provider) => `(
  select i.heard_at + interval '${NOTED_WITHIN_MINUTES} minutes' from event_intakes i where i.provider = '${provider}'
)`

/** Mails of a provider that went out since its last event. */
const silent = (provider: Provider) => `(
  select count(*)::int from (
    select from email_log l
    where l.provider = '${provider}' and l.outcome = 'sent'
      and l.created_at < now() - interval '${SILENCE_AFTER_MINUTES} minutes'
      and l.created_at > greatest(${isPolled(provider) ? webhookHeard(provider) : newestWithEvent(provider)}, now() - interval '${SILENCE_WINDOW_HOURS} hours')
    limit ${MAX_SILENT}
  ) as x
)`

const PROCESS_OFF = `coalesce((
  select max(abs(d.difference_ms)) from clock_differences d
  where abs(extract(epoch from d.noted_at - clock_timestamp())) < ${CLOCK_NOTED_MINUTES * 60}
), 0)::float8`

const DATABASE_BACK = `greatest(0, coalesce((
  select extract(epoch from l.created_at - clock_timestamp()) * 1000
  from email_log l order by l.created_at desc, l.id desc limit 1
), 0))::float8`

/**
 * A deferred send's retries are separate rows, also marked `failed_over`: a key counts once. Mail pinned to the fallback says
 * nothing about the primary.
 */
const MEASURE = `with recent as (
  select created_at, provider, outcome, error_kind, failed_over, coalesce(idempotency_key, id::text) as key from email_log
  where created_at > now() - interval '${RECENT_MINUTES} minutes' and source is distinct from '${ALARM_SOURCE}'
)
select
  floor(extract(epoch from now()) * 1000)::float8 as at,
  r.*, b.*,
  k.off as hooks_off, k.pending as hooks_pending, k.dead as hooks_dead, k.oldest_s as hooks_oldest,
  (select coalesce(sum(u.count), 0)::int from email_unclaimed_sends u
    where u.noted_at > now() - interval '${RECENT_MINUTES} minutes') as unclaimed,
  ${OVERDUE} as overdue, ${PROCESS_OFF} as process_off_ms, ${DATABASE_BACK} as database_back_ms,
  jsonb_build_object(${ReportingProvider.literals.map((provider) => `'${provider}', ${silent(provider)}`).join(", ")}) as silent,
  (
    select coalesce(sum(c.unanswered_pages), 0)::int from chunk_jobs c
    where c.unanswered_pages > 0 and c.updated_at > now() - interval '${RECENT_MINUTES} minutes'
  ) as unanswered,
  ${QUEUE_MEASURES},
  ${DOCUMENT_MEASURES}
from (
  select
    (count(distinct key) filter (
      where failed_over and created_at > now() - interval '${FAILOVER_WINDOW_MINUTES} minutes'))::int as failovers,
    (count(distinct key) filter (where failed_over and outcome = 'sent'))::int as by_fallback,
    (count(*) filter (
      where not failed_over and outcome = 'sent' and provider not in (select provider from recent where failed_over and provider is not null)))::int as by_primary,
    (count(distinct key) filter (where outcome = 'deferred'))::int as deferred,
    (count(distinct key) filter (where outcome = 'failed' and error_kind in ('ambiguous', 'unavailable')))::int as failed
  from recent
) as r, (
  select
    count(*)::int as sends,
    (count(*) filter (where status = 'bounced'))::int as bounced,
    (count(*) filter (where status = 'complained'))::int as complained
  from email_log
  where created_at > now() - interval '${RATE_WINDOW_HOURS} hours' and provider = '${REVIEWING_PROVIDER}'
    and status not in ('deferred', 'suppressed', 'failed')
) as b, event_hook_health(interval '${RECENT_MINUTES} minutes') as k`

/** The alarms by name; one without a row is quiet. */
const tableOf = (rows: ReadonlyArray<typeof Alarm.Type>): AlarmTable =>
  alarmTable((name) => {
    const { calmSince, episode, firing } = rows.find((row) => row.name === name) ?? QUIET
    return { firing, episode, calmSince }
  })

const measuresOf = (row: typeof Counted.Type): Omit<Measures, "deadLetters"> => ({
  at: row.at,
  failovers: row.failovers,
  providerB: { sends: row.sends, bounced: row.bounced, complained: row.complained },
  accepted: { byFallback: row.byFallback, byPrimary: row.byPrimary },
  // A request of the queue waits without a row of the log.
  unsettled: { deferred: row.deferred + row.queueDeferred, failed: row.failed },
  unclaimed: row.unclaimed,
  overdue: row.overdue,
  clocks: { processOffMs: row.processOffMs, databaseBackMs: row.databaseBackMs },
  silent: row.silent,
  unanswered: row.unanswered,
  documents: documentsOf(row),
  hooks: {
    off: row.hooksOff,
    pending: row.hooksPending,
    dead: row.hooksDead,
    oldestSeconds: row.hooksOldest
  },
  queue: { oldestDueMs: row.oldestDueMs, setAside: row.setAside, givenUp: row.givenUp }
})

/** The alarms in Postgres, on its clock. */
export const layer: Layer.Layer<AlarmBoard, never, ReadSql | WriteSql> = Layer.effect(
  AlarmBoard,
  Effect.gen(function* () {
    const readSql = yield* ReadSql
    const writeSql = yield* WriteSql
    return AlarmBoard.of({
      // On a separate connection: on a shared one it would delay the look-ups that sends wait for.
      measure: Effect.map(ask.one("measureAlarms", Counted, writeSql.unsafe(MEASURE)), measuresOf),
      read: Effect.map(
        ask.rows(
          "readAlarms",
          Alarm,
          readSql`select name, firing, episode, extract(epoch from calm_since)::float8 * 1000 as calm_since from email_alarms`
        ),
        tableOf
      ),
      clock: ask.answer(
        "clock",
        Schema.Finite,
        readSql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as answer`
      ),
      noteClock: ({ differenceMs, process }) =>
        ask.done("noteClock", writeSql`select note_clock_difference(${process}, ${differenceMs}::float8)`),
      change: ({ detail, from, name, notice, to }) =>
        ask.answer(
          "changeAlarm",
          Schema.Boolean,
          writeSql`select change_email_alarm(
            ${name}, ${from.firing}, ${from.episode}::int, ${from.calmSince ?? null}::float8,
            ${to.firing}, ${to.episode}::int, ${to.calmSince ?? null}::float8, ${notice ?? null}::text, ${detail}
          ) as answer`
        ),
      // When the answer to a claim is lost, the notice becomes due again once the lease ends.
      claimNotice: ask.first("claimNotice", Notice, writeSql`select * from claim_email_alarm_notice()`),
      confirmNotice: ({ alarm, episode, kind }) =>
        ask.done(
          "confirmNotice",
          writeSql`update email_alarm_notices set sent_at = now(), due_at = null
            where alarm = ${alarm} and episode = ${episode} and kind = ${kind} and sent_at is null`
        ),
      releaseNotice: ({ alarm, episode, kind }, taken = []) =>
        ask.done(
          "releaseNotice",
          writeSql`with known as (
              select *, cardinality(${taken}::text[]) > 0 and attempts >= ${MAX_CHANNEL_TRIES}::int as is_over
              from email_alarm_notices
              where alarm = ${alarm} and episode = ${episode} and kind = ${kind} and sent_at is null
              for update
            )
            update email_alarm_notices n set taken = ${taken}::text[],
              sent_at = case when k.is_over then now() end,
              due_at = case when not k.is_over then clock_timestamp()
                + least(interval '1 minute' * 2 ^ least(greatest(k.attempts - 4, 0), 10), interval '1 hour') end
            from known k where n.alarm = k.alarm and n.episode = k.episode and n.kind = k.kind`
        )
    })
  })
)
