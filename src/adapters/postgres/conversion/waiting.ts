import { Schema } from "effect"

import { JobStatus } from "../../../domain/conversion/job.ts"

const Seconds = Schema.NullOr(Schema.Int)

/** What `WAITING` selects. */
export const WaitRow = Schema.Struct({
  jobStatus: Schema.NullOr(JobStatus),
  requested: Schema.Int,
  silent: Seconds,
  due: Seconds,
  others: Schema.Int,
  anySilent: Seconds,
  submitted: Seconds,
  dayLeft: Schema.Int
})

/** Most conversions that are counted. */
const MOST_OTHERS = 1000

const seconds = (difference: string) => `floor(extract(epoch from ${difference}))::integer`

/** Other work, but for the file or the flyer job `f`; since a worker of any of it reported; what is left of the day. */
const elsewhere = (jobId: string) => `(select count(*) from (
    select from large_conversion_jobs o
    where o.status in ('pending', 'processing', 'assembling') and o.id is distinct from ${jobId}
    union all
    select from files o where o.status = 'processing' and o.deleted_at is null and o.id <> f.id
    union all
    select from flyer_jobs o where o.status in ('pending', 'processing') and o.id <> f.id
    limit ${MOST_OTHERS}
  ) other)::integer as others,
  ${seconds(`clock_timestamp() - greatest(
    (select max(c.heartbeat_at) from chunk_jobs c where c.status = 'processing'),
    (select max(o.heartbeat_at) from files o where o.status = 'processing' and o.lease is not null),
    (select max(o.heartbeat_at) from large_conversion_jobs o where o.status = 'assembling'),
    (select max(o.heartbeat_at) from flyer_jobs o where o.status = 'processing')
  )`)} as any_silent,
  86400 - (${seconds("clock_timestamp()")} % 86400) as day_left`

/** Why the conversion of a file does not move on (DOC-17): looks into indices of live work only. `greatest` passes over nulls. */
export const WAITING = `select j.status as job_status,
  greatest(0, ${seconds("clock_timestamp() - coalesce(j.created_at, q.created_at, f.updated_at)")}) as requested,
  ${seconds(`clock_timestamp() - greatest(
    (select max(c.heartbeat_at) from chunk_jobs c where c.job_id = j.id and c.status = 'processing'),
    case when j.status = 'assembling' and j.lease is not null then j.heartbeat_at end,
    case when f.status = 'processing' and f.lease is not null then f.heartbeat_at end
  )`)} as silent,
  ${seconds(`(select min(c.not_before) from chunk_jobs c where c.job_id = j.id and c.status = 'pending') - clock_timestamp()`)} as due,
  ${elsewhere("f.job_id")},
  ${seconds("clock_timestamp() - b.submitted_at")} as submitted
from files f
left join large_conversion_jobs j on j.id = f.job_id
left join convert_queue q on q.job_id = f.job_id
left join conversion_batch_jobs b on b.job_id = j.id
where f.id = $1::uuid and f.deleted_at is null and f.status in ('processing', 'chunked_processing')`

/** The same of a flyer job. */
export const FLYER_WAITING = `select null as job_status,
  greatest(0, ${seconds("clock_timestamp() - f.created_at")}) as requested,
  ${seconds("clock_timestamp() - case when f.status = 'processing' then f.heartbeat_at end")} as silent,
  null as due,
  ${elsewhere("null")},
  null as submitted
from flyer_jobs f where f.id = $1::uuid and f.status in ('pending', 'processing')`
