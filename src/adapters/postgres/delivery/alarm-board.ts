import { Effect, Layer, Schema } from "effect"

import {
  ALARMS,
  type AlarmState,
  FAILOVER_WINDOW_MINUTES,
  QUIET,
  RATE_WINDOW_HOURS,
  RECENT_MINUTES,
  SILENCE_AFTER_MINUTES
} from "../../../domain/delivery/alarm-rules.ts"
import { ALARM_SOURCE } from "../../../domain/delivery/alarms.ts"
import type { Provider } from "../../../domain/mail/failover.ts"
import { AlarmBoard, type AlarmNotice } from "../../../ports/delivery/alarm-board.ts"
import { answered, storeUnavailable } from "../answered.ts"
import { ReadSql, WriteSql } from "../client.ts"

/** How far back silence is looked for. */
const SILENCE_WINDOW_HOURS = 24

/** Most silent sends that are counted: the alarm needs no more. */
const MAX_SILENT = 1_000

const Counted = Schema.Tuple([
  Schema.Struct({
    at: Schema.Finite,
    failovers: Schema.Int,
    sends: Schema.Int,
    bounced: Schema.Int,
    complained: Schema.Int,
    by_fallback: Schema.Int,
    by_primary: Schema.Int,
    deferred: Schema.Int,
    failed: Schema.Int,
    silent_a: Schema.Int,
    silent_b: Schema.Int
  })
])

const Alarm = Schema.Struct({
  name: Schema.String,
  firing: Schema.Boolean,
  episode: Schema.Int,
  calm_since: Schema.NullOr(Schema.Finite)
})

const Notice = Schema.Struct({
  alarm: Schema.Literals(ALARMS),
  episode: Schema.Int,
  kind: Schema.Literals(["begun", "ended"]),
  detail: Schema.String,
  at: Schema.Finite
})

const decodeCounted = Schema.decodeUnknownEffect(Counted)
const decodeAlarms = Schema.decodeUnknownEffect(Schema.Array(Alarm))
const decodeNotices = Schema.decodeUnknownEffect(Schema.Array(Notice))
const decodeChanged = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ changed: Schema.Boolean })]))

const unavailable = Effect.mapError(storeUnavailable("alarms"))

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

const silent = (provider: Provider, since: string) => `(
  select count(*)::int from (
    select from email_log l
    where l.provider = '${provider}' and l.outcome = 'sent'
      and l.created_at < now() - interval '${SILENCE_AFTER_MINUTES} minutes'
      and l.created_at > greatest(${since}, now() - interval '${SILENCE_WINDOW_HOURS} hours')
    limit ${MAX_SILENT}
  ) as x
)`

/**
 * A deferred send's retries are rows of their own, also marked `failed_over`: a key counts once. Mail pinned to the
 * fallback says nothing about the primary.
 */
const MEASURE = `with recent as (
  select created_at, provider, outcome, error_kind, failed_over, coalesce(idempotency_key, id::text) as key from email_log
  where created_at > now() - interval '${RECENT_MINUTES} minutes' and source is distinct from '${ALARM_SOURCE}'
)
select
  floor(extract(epoch from now()) * 1000)::float8 as at,
  r.*, b.*,
  ${silent("provider_a", webhookHeard("provider_a"))} as silent_a,
  ${silent("provider_b", newestWithEvent("provider_b"))} as silent_b
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
  where created_at > now() - interval '${RATE_WINDOW_HOURS} hours' and provider = 'provider_b'
    and status not in ('deferred', 'suppressed', 'failed')
) as b`

/** The alarms in Postgres, on its clock. */
export const layer: Layer.Layer<AlarmBoard, never, ReadSql | WriteSql> = Layer.effect(
  AlarmBoard,
  Effect.gen(function* () {
    const readSql = yield* ReadSql
    const writeSql = yield* WriteSql

    const settle = ({ alarm, episode, kind }: AlarmNotice, sent: boolean) =>
      answered(
        sent
          ? writeSql`update email_alarm_notices set sent_at = now(), due_at = null
              where alarm = ${alarm} and episode = ${episode} and kind = ${kind} and sent_at is null`
          : writeSql`update email_alarm_notices set due_at = clock_timestamp()
                + least(interval '1 minute' * 2 ^ least(greatest(attempts - 4, 0), 10), interval '1 hour')
              where alarm = ${alarm} and episode = ${episode} and kind = ${kind} and sent_at is null`
      ).pipe(Effect.asVoid, unavailable)

    return AlarmBoard.of({
      // On a connection of its own: on a shared one it would delay the look-ups that sends wait for.
      measure: answered(writeSql.unsafe(MEASURE)).pipe(
        Effect.flatMap(decodeCounted),
        Effect.map(([counted]) => ({
          at: counted.at,
          failovers: counted.failovers,
          providerB: { sends: counted.sends, bounced: counted.bounced, complained: counted.complained },
          accepted: { byFallback: counted.by_fallback, byPrimary: counted.by_primary },
          unsettled: { deferred: counted.deferred, failed: counted.failed },
          silent: { provider_a: counted.silent_a, provider_b: counted.silent_b }
        })),
        unavailable
      ),
      read: answered(
        readSql`select name, firing, episode, extract(epoch from calm_since)::float8 * 1000 as calm_since from email_alarms`
      ).pipe(
        Effect.flatMap(decodeAlarms),
        Effect.map((rows) => {
          const stateOf = (name: string): AlarmState => {
            const row = rows.find((known) => known.name === name)
            return row === undefined
              ? QUIET
              : { firing: row.firing, episode: row.episode, calmSince: row.calm_since ?? undefined }
          }
          return {
            failovers: stateOf("failovers"),
            provider_b_bounces: stateOf("provider_b_bounces"),
            provider_b_complaints: stateOf("provider_b_complaints"),
            dead_letters: stateOf("dead_letters"),
            fallback_only: stateOf("fallback_only"),
            deferred_sends: stateOf("deferred_sends"),
            failed_sends: stateOf("failed_sends"),
            silence_provider_a: stateOf("silence_provider_a"),
            silence_provider_b: stateOf("silence_provider_b")
          }
        }),
        unavailable
      ),
      change: ({ detail, from, name, notice, to }) =>
        answered(
          writeSql`select change_email_alarm(
            ${name}, ${from.firing}, ${from.episode}::int, ${from.calmSince ?? null}::float8,
            ${to.firing}, ${to.episode}::int, ${to.calmSince ?? null}::float8, ${notice ?? null}::text, ${detail}
          ) as changed`
        ).pipe(
          Effect.flatMap(decodeChanged),
          Effect.map(([{ changed }]) => changed),
          unavailable
        ),
      // A claim whose answer is lost becomes due again when its lease ends.
      claimNotice: answered(writeSql`select * from claim_email_alarm_notice()`).pipe(
        Effect.flatMap(decodeNotices),
        Effect.map(([notice]) => notice),
        unavailable
      ),
      confirmNotice: (notice) => settle(notice, true),
      releaseNotice: (notice) => settle(notice, false)
    })
  })
)
