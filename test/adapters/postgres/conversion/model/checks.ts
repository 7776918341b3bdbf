import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import type { World } from "./world.ts"

/** Rows that must not be, in words. */
const VIOLATIONS = `
select 'F1 customer ' || c.email || ' has less than is set aside' as what
from customers c
where coalesce(c.credits_remaining, 0) < (
  select coalesce(sum(h.credits), 0) from funds_holds h
  where h.customer_id = c.id and h.state = 'held' and h.expires_at > clock_timestamp()
) or c.lifetime_free_pages_used <> (
  select coalesce(sum(x.free_pages), 0) from credit_charges x where x.customer_id = c.id
)
union all
select 'F1 the hold of ended job ' || j.id || ' is open'
from large_conversion_jobs j join funds_holds h on h.job_id = j.id
where j.status in ('completed', 'failed', 'cancelled') and h.state = 'held'
union all
select 'F1 the hold of ended flyer job ' || j.id || ' is open'
from flyer_jobs j join funds_holds h on h.job_id = j.id
where j.status in ('completed', 'failed') and h.state = 'held'
union all
select 'F1 the hold ' || h.job_id || ' of nobody is open'
from funds_holds h
where h.state = 'held'
  and not exists (select from large_conversion_jobs j where j.id = h.job_id)
  and not exists (select from flyer_jobs j where j.id = h.job_id)
  and not exists (select from convert_queue q where q.job_id = h.job_id)
  and not exists (
    select from files f where f.job_id = h.job_id and f.status = 'processing' and f.deleted_at is null
  )
union all
select 'F2 X1 job ' || j.id || ' is ' || j.status || ' and was charged'
from large_conversion_jobs j join credit_charges x on x.job_id = j.id
where j.status <> 'completed' or j.options ? '_compedFlyerJobId'
union all
select 'F2 job ' || j.id || ' is completed and has no result'
from large_conversion_jobs j join files f on f.job_id = j.id
where j.status = 'completed' and f.deleted_at is null and (f.status <> 'completed' or f.result_key is null)
union all
select 'F2 file ' || f.id || ' of ' || f.kind || ' was charged and is ' || f.status
from files f join credit_charges x on x.job_id = f.job_id
where f.kind <> 'pdf' and f.deleted_at is null and f.status <> 'completed'
union all
select 'F2 file ' || f.id || ' is completed and has no result'
from files f where f.status = 'completed' and f.deleted_at is null and f.result_key is null
union all
select 'R1 file ' || f.id || ' has lost its paid result'
from files f
where f.deleted_at is null and f.result_key is null
  and exists (select from large_conversion_jobs j where j.file_id = f.id and j.status = 'completed')
union all
select 'F2 flyer job ' || y.id || ' is ' || y.status || case when x.job_id is null then ' and was not charged' else ' and was charged' end
from flyer_jobs y left join credit_charges x on x.job_id = y.id
where (x.job_id is not null) <> (y.status = 'completed' and y.result_key is not null)
union all
select 'C1 job ' || j.id || ' is ' || j.status || ' with pages missing or twice'
from large_conversion_jobs j
where j.status in ('assembling', 'completed') and (
  select array_agg(p order by c.chunk_index, p) from chunk_jobs c
  cross join lateral generate_series(c.first_page, c.last_page) as p
  where c.job_id = j.id and c.status = 'completed' and c.result_key is not null
) is distinct from (select array_agg(p) from generate_series(0, j.total_pages - 1) as p)
union all
select 'C3 file ' || f.id || ' shows ' || f.status || ' without a live job'
from files f
where f.status = 'chunked_processing' and f.deleted_at is null
  and not exists (select from convert_queue q where q.job_id = f.job_id)
  and not exists (
    select from large_conversion_jobs j
    where j.id = f.job_id and j.status not in ('completed', 'failed', 'cancelled')
  )
union all
select 'C3 live job ' || l.id || ' has a file that does not show it'
from (
  select j.id, j.file_id from large_conversion_jobs j where j.status not in ('completed', 'failed', 'cancelled')
  union all
  select q.job_id, q.file_id from convert_queue q
) l
join files f on f.id = l.file_id
where f.deleted_at is not null or f.status <> 'chunked_processing' or f.job_id <> l.id
union all
select 'X1 X2 job ' || j.id || ' is ' || j.status || ' with a chunk that is ' || c.status
from large_conversion_jobs j join chunk_jobs c on c.job_id = j.id
where (j.status = 'cancelled' and c.status not in ('completed', 'cancelled'))
  or (j.status = 'failed' and c.status not in ('completed', 'failed'))
  or (j.status in ('pending', 'processing', 'paused_budget')
    and c.status not in ('pending', 'processing', 'completed'))
  or (j.status = 'waiting_batch' and c.status <> 'waiting_batch')
  or (j.status in ('assembling', 'completed') and c.status <> 'completed')
union all
select 'C4 job ' || j.id || ' has all its chunks and is ' || j.status
from large_conversion_jobs j
where j.status in ('pending', 'processing', 'paused_budget')
  and not exists (select from chunk_jobs c where c.job_id = j.id and c.status <> 'completed')
union all
select 'C2 job ' || j.id || ' counts ' || j.done_chunks || ' chunks'
from large_conversion_jobs j
where j.done_chunks <> (select count(*) from chunk_jobs c where c.job_id = j.id and c.status = 'completed')
union all
select 'K1 job ' || j.id || ' cost ' || coalesce(j.total_cost_usd::text, 'nothing')
from large_conversion_jobs j
where j.status in ('completed', 'failed', 'cancelled')
  and j.total_cost_usd is distinct from
    (select coalesce(sum(l.cost_usd), 0) from cost_ledger l where l.job_id = j.id)
union all
select 'X1 flyer job ' || y.id || ' was resolved by a conversion that is not there'
from flyer_jobs y
where y.comp_conversion_id is not null
  and not exists (select from convert_queue q where q.job_id = y.comp_conversion_id)
  and not exists (
    select from large_conversion_jobs j where j.id = y.comp_conversion_id and j.status <> 'cancelled'
  )`

/** All of it, and what is compared with what was answered, in one round trip. */
const STATE = `
select
  array(${VIOLATIONS}) as violations,
  (select credits_remaining from customers where id = $1::uuid) as credits,
  (select coalesce(jsonb_object_agg(job_id, credits + free_pages), '{}') from credit_charges) as charges,
  (select coalesce(sum(credits), 0)::int from credit_charges) as taken,
  (select coalesce(jsonb_object_agg(id, result_key), '{}') from chunk_jobs where status = 'completed') as results,
  (select coalesce(jsonb_object_agg(id, status), '{}') from large_conversion_jobs
    where status in ('completed', 'failed', 'cancelled')) as ends,
  (select coalesce(jsonb_object_agg(id, (cost_usd * 1000)::int), '{}') from cost_ledger) as spent`

interface State {
  readonly violations: ReadonlyArray<string>
  readonly credits: number
  readonly charges: Readonly<Record<string, number>>
  readonly taken: number
  readonly results: Readonly<Record<string, string>>
  readonly ends: Readonly<Record<string, string>>
  readonly spent: Readonly<Record<string, number>>
}

/** Whatever is not the same in both. */
const differences = <A extends string | number>(
  what: string,
  reported: ReadonlyMap<string, A>,
  kept: Readonly<Record<string, A>>
): ReadonlyArray<string> => [
  ...[...reported].flatMap(([id, value]) =>
    kept[id] === value ? [] : [`${what} ${id}: ${kept[id] ?? "nothing"} is kept of ${value}`]
  ),
  ...Object.keys(kept).flatMap((id) =>
    reported.has(id) ? [] : [`${what} ${id}: ${kept[id] ?? ""} was never reported`]
  )
]

/** Everything that must hold after every step (C1 to C4, F, K1, X1, X2); answers what does not. */
export const violationsIn = (world: World): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(world.sql.unsafe<State>(STATE, [world.owners[0]]), ([state]) => {
    if (state === undefined) return ["no answer"]
    const left = world.granted - state.taken
    const changed = [...world.ends].flatMap(([id, status]) =>
      state.ends[id] === status ? [] : [`X1 job ${id} was ${status} and is ${state.ends[id] ?? "live"}`]
    )
    for (const [id, status] of Object.entries(state.ends)) world.ends.set(id, status)
    return [
      ...world.violations,
      ...state.violations,
      ...(state.credits === left ? [] : [`F1 ${state.credits} credits are left, not ${left}`]),
      ...changed,
      ...differences("F2 the charge of", world.charged, state.charges),
      ...differences("C2 the result of chunk", world.results, state.results),
      ...differences("K1 the cost under", world.spent, state.spent)
    ]
  })

const REST = `
select (select count(*) from funds_holds where state = 'held')::int as held,
  (select count(*) from convert_queue)::int as queued,
  (select count(*) from large_conversion_jobs where status not in ('completed', 'failed', 'cancelled'))::int as jobs,
  (select count(*) from files where deleted_at is null and status in ('processing', 'chunked_processing'))::int as files,
  (select count(*) from flyer_jobs where status in ('pending', 'processing'))::int as flyers`

/** What is still under way, or set aside, where everything should have come to rest. */
export const unrestIn = ({ sql }: World): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(sql.unsafe<Record<string, number>>(REST), ([row]) =>
    Object.entries(row ?? { row: 1 }).flatMap(([what, count]) =>
      count === 0 ? [] : [`F1 C4 at rest: ${count} ${what}`]
    )
  )
