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
  submitted: Seconds
})

/** Most conversions that are counted. */
const MOST_OTHERS = 1000

const seconds = (difference: string) => `floor(extract(epoch from ${difference}))::integer`

/** Why the conversion of a file does not move on (DOC-17): looks into indices of live work only. `greatest` passes over nulls. */
export const WAITING = `select j.status as job_status,
  greatest(0, ${seconds("clock_timestamp() - coalesce(j.created_at, q.created_at, f.updated_at)")}) as requested,
  ${seconds(`clock_timestamp() - greatest(
    (select max(c.heartbeat_at) from chunk_jobs c where c.job_id = j.id and c.status = 'processing'),
    case when j.status = 'assembling' and j.lease is not null then j.heartbeat_at end,
    case when f.status = 'processing' and f.lease is not null then f.heartbeat_at end
  )`)} as silent,
  ${seconds(`(select min(c.not_before) from chunk_jobs c where c.job_id = j.id and c.status = 'pending') - clock_timestamp()`)} as due,
  (select count(*) from (
    select from large_conversion_jobs o
    where o.status in ('pending', 'processing', 'assembling') and o.id is distinct from f.job_id
    union all
    select from files o where o.status = 'processing' and o.deleted_at is null and o.id <> f.id
    limit ${MOST_OTHERS}
  ) other)::integer as others,
  ${seconds(`clock_timestamp() - greatest(
    (select max(c.heartbeat_at) from chunk_jobs c where c.status = 'processing'),
    (select max(o.heartbeat_at) from files o where o.status = 'processing' and o.lease is not null),
    (select max(o.heartbeat_at) from large_conversion_jobs o where o.status = 'assembling')
  )`)} as any_silent,
  ${seconds("clock_timestamp() - b.submitted_at")} as submitted
from files f
left join large_conversion_jobs j on j.id = f.job_id
left join convert_queue q on q.job_id = f.job_id
left join conversion_batch_jobs b on b.job_id = j.id
where f.id = $1::uuid and f.deleted_at is null and f.status in ('processing', 'chunked_processing')`
