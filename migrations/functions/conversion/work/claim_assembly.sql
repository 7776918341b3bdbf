-- Claims the assembly of the oldest job that has all chunks done; the same call again counts no further attempt. `chunk_keys`: the
-- chunks' results in order, read in the statement that sees that all are done.
--
-- The row to claim is chosen in a materialized expression, here and in every other claim: that runs once. A subquery in
-- `from` may run again for each row that it is joined with, and with claimed rows skipped each run would choose the next
-- row, so that one claim would take everything that waits.
create or replace function claim_assembly(p_lease uuid, p_stale interval)
returns table (
  id uuid, file_id uuid, file_name text, attempts integer, options jsonb, total_pages integer,
  chunk_keys text[], object_key text
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from large_conversion_jobs x
    where x.status = 'assembling'
      and (x.lease is null or x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
    order by x.lease is not distinct from p_lease desc, x.created_at
    limit 1
    for no key update skip locked
  )
  update large_conversion_jobs j set
    lease = p_lease, heartbeat_at = clock_timestamp(), updated_at = clock_timestamp(),
    attempts = j.attempts + (j.lease is distinct from p_lease)::integer
  from n, files f
  where j.id = n.id and f.id = j.file_id
  returning j.id, j.file_id, f.name, j.attempts, j.options, j.total_pages,
    array(select c.result_key from chunk_jobs c where c.job_id = j.id order by c.chunk_index),
    f.object_key
$$;
