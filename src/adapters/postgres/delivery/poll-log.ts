import { Effect, Layer, Schema } from "effect"

import type { KnownMail, ListMark } from "../../../domain/delivery/listed-mail.ts"
import { POLLED_PROVIDER } from "../../../domain/mail/provider.ts"
import { PollLog, type PollPosition } from "../../../ports/delivery/event-poll.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { Absent, TextOrNull, toJsonText } from "../values.ts"

const ask = statements()

const KnownRow = Schema.Struct({
  id: Schema.String,
  logged: Schema.Boolean,
  lastEvent: Absent(Schema.String),
  alertDue: Schema.Boolean,
  oldest: Absent(Schema.Number)
})

const PositionRow = Schema.Struct({
  newestId: TextOrNull,
  newestAt: Schema.NullOr(Schema.Number),
  gapAfter: TextOrNull,
  gapUntilId: TextOrNull,
  gapUntilAt: Schema.NullOr(Schema.Number),
  version: Schema.Int
})

const markOf = (id: string | null, sentAt: number | null): ListMark | undefined =>
  id === null && sentAt === null ? undefined : { id: id ?? undefined, sentAt: sentAt ?? undefined }

const positionOf = (row: typeof PositionRow.Type): PollPosition => ({
  newest: markOf(row.newestId, row.newestAt),
  gap:
    row.gapAfter === null ? undefined : { after: row.gapAfter, until: markOf(row.gapUntilId, row.gapUntilAt) }
})

const timeOf = (mark: ListMark | undefined): string | null =>
  mark?.sentAt === undefined ? null : new Date(mark.sentAt).toISOString()

/** The poll's view of the log on PostgreSQL: one query per page. */
export const layer: Layer.Layer<PollLog, never, ReadSql | WriteSql> = Layer.effect(
  PollLog,
  Effect.gen(function* () {
    const read = yield* ReadSql
    const write = yield* WriteSql
    return PollLog.of({
      known: (messageIds, provider = POLLED_PROVIDER) =>
        ask
          .rows(
            "known",
            KnownRow,
            read`select x.id, l.id is not null as logged, l.last_event,
              coalesce(l.alerted_at is null and email_status_rank(l.status) = 100, false) as alert_due,
              (select floor(extract(epoch from min(created_at)) * 1000)::float8 from email_log) as oldest
            from jsonb_array_elements_text(${toJsonText(messageIds)}::jsonb) as x(id)
            left join email_log l on l.provider = ${provider} and l.provider_message_id = x.id`
          )
          .pipe(
            Effect.map((rows) => ({
              mails: new Map(
                rows.flatMap(({ alertDue, id, lastEvent, logged }): ReadonlyArray<[string, KnownMail]> =>
                  logged ? [[id, { lastEvent, alertDue }]] : []
                )
              ),
              oldest: rows[0]?.oldest
            }))
          ),
      position: ask
        .first(
          "position",
          PositionRow,
          write`select newest_id, round(extract(epoch from newest_at) * 1000)::float8 as newest_at, gap_after, gap_until_id,
            round(extract(epoch from gap_until_at) * 1000)::float8 as gap_until_at, version::int as version
          from event_poll_positions where provider = ${POLLED_PROVIDER}`
        )
        .pipe(
          Effect.map((row) =>
            row === undefined
              ? { position: { newest: undefined, gap: undefined }, version: 0 }
              : { position: positionOf(row), version: row.version }
          )
        ),
      savePosition: ({ gap, newest }, version) =>
        Effect.map(
          ask.stored(
            "savePosition",
            write`
          insert into event_poll_positions as p
            (provider, newest_id, newest_at, gap_after, gap_until_id, gap_until_at, version)
          select ${POLLED_PROVIDER}::text, ${newest?.id ?? null}::text, ${timeOf(newest)}::timestamptz, ${gap?.after ?? null}::text,
            ${gap?.until?.id ?? null}::text, ${timeOf(gap?.until)}::timestamptz, 1
          where ${version}::bigint = 0 or exists (select from event_poll_positions where provider = ${POLLED_PROVIDER})
          on conflict (provider) do update set
            newest_id = excluded.newest_id,
            newest_at = excluded.newest_at,
            gap_after = excluded.gap_after,
            gap_until_id = excluded.gap_until_id,
            gap_until_at = excluded.gap_until_at,
            version = p.version + 1,
            updated_at = now()
          where p.version = ${version}::bigint
          returning version`
          ),
          (rows) => rows.length === 1
        )
    })
  })
)
