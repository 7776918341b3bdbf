import { Schema } from "effect"

import { FAILURES } from "../../../domain/conversion/failures.ts"
import {
  BATCH_WINDOW_HOURS,
  DOCUMENT_MINUTES,
  type DocumentMeasures
} from "../../../domain/delivery/document-alarms.ts"

/** What {@link DOCUMENT_MEASURES} selects. */
export const documentColumns = {
  failedConversions: Schema.Int,
  waitingMinutes: Schema.Int,
  batchPages: Schema.Int,
  batchFallback: Schema.Int,
  mailsEnded: Schema.Int,
  mailsUnverified: Schema.Int,
  mailWaitingMinutes: Schema.Int
}

const recent = (column: string) => `${column} > now() - interval '${DOCUMENT_MINUTES} minutes'`

/** Mails are rarely under way for a day; their index is by arrival. */
const mailsEnded = (condition: string) => `(
  select count(*)::int from intake_mails m
  where m.received_at > now() - interval '1 day' and ${recent("m.ended_at")} and ${condition}
)`

const minutesSince = (moment: string) =>
  `greatest(0, coalesce(floor(extract(epoch from clock_timestamp() - ${moment}) / 60), 0))::int`

/** A flyer that its owner stopped, or that lost its file, has failed, too; it is not counted here. */
const FAILED = `((
  select count(*) from large_conversion_jobs j where j.status = 'failed' and ${recent("j.finished_at")}
) + (
  select count(*) from files f
  where f.status = 'failed' and f.kind <> 'pdf' and f.job_id is not null and f.deleted_at is null and ${recent("f.updated_at")}
) + (
  select count(*) from flyer_jobs x join files f on f.id = x.file_id
  where x.status = 'failed' and f.deleted_at is null and ${recent("x.updated_at")}
    and x.error is distinct from '${FAILURES.stopped}'
))::int + ${mailsEnded("m.outcome = 'error'")}`

/** Where anybody works on anything, workers take turns over what waits. A chunk's end writes its job: a worker between two chunks holds none. */
const WORKED_ON = `(
  exists (select from large_conversion_jobs j
    where j.status in ('processing', 'assembling') and greatest(j.updated_at, j.heartbeat_at) > now() - interval '2 minutes')
  or exists (select from chunk_jobs c where c.status = 'processing' and c.heartbeat_at > now() - interval '2 minutes')
  or exists (select from files f where f.status = 'processing' and f.lease is not null and f.heartbeat_at > now() - interval '2 minutes')
  or exists (select from flyer_jobs x where x.status = 'processing' and x.heartbeat_at > now() - interval '2 minutes')
)`

const OLDEST_WAITING = `least(
  (select min(greatest(c.queued_at, c.not_before)) from chunk_jobs c
    join large_conversion_jobs j on j.id = c.job_id and j.status in ('pending', 'processing') where c.status = 'pending'),
  (select min(j.updated_at) from large_conversion_jobs j where j.status = 'assembling'),
  (select min(f.updated_at) from files f where f.status = 'processing' and f.deleted_at is null),
  (select min(x.updated_at) from flyer_jobs x where x.status in ('pending', 'processing')),
  (select min(q.created_at) from convert_queue q)
)`

const BATCHES = `from conversion_batch_jobs b where b.closed_at > now() - interval '${BATCH_WINDOW_HOURS} hours'`

/** What the alarms about documents are judged by. */
export const DOCUMENT_MEASURES = `${FAILED} as failed_conversions,
  case when ${WORKED_ON} then 0 else ${minutesSince(OLDEST_WAITING)} end as waiting_minutes,
  (select coalesce(sum(b.records), 0)::int ${BATCHES}) as batch_pages,
  (select coalesce(sum(b.fallback), 0)::int ${BATCHES}) as batch_fallback,
  ${mailsEnded("true")} as mails_ended,
  ${mailsEnded("m.outcome = 'unverified'")} as mails_unverified,
  ${minutesSince(`(select min(least(m.not_before, m.failing_since)) from intake_mails m where m.step <> 'ended'
    and (m.lease is null or m.heartbeat_at < now() - interval '2 minutes'))`)} as mail_waiting_minutes`

const Row = Schema.Struct(documentColumns)

export const documentsOf = (row: typeof Row.Type): DocumentMeasures => ({
  failed: row.failedConversions,
  waitingMinutes: row.waitingMinutes,
  batch: { pages: row.batchPages, fallback: row.batchFallback },
  mails: { ended: row.mailsEnded, unverified: row.mailsUnverified },
  mailWaitingMinutes: row.mailWaitingMinutes
})
