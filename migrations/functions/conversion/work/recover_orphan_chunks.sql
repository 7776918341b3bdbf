-- Orphan recovery (DOC-12, C4): a chunk goes back to `pending` after its worker was silent for `p_stale`; with its attempts used up
-- it fails its job, with the sentence of `p_reasons` for `worker_died`. A chunk without a heartbeat was claimed by other software,
-- and counts from when it was written. A job without chunks would never move, and gets them after `p_stale`, which leaves time to
-- write them by hand. One chunk or job a call, so that no two jobs are locked at once; returns how many. Called by the leader's
-- upkeep.
create or replace function recover_orphan_chunks(p_stale interval, p_max_attempts integer, p_reasons jsonb default '{}')
returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c record;
  v_job uuid;
  v_count integer := 0;
begin
  for c in
    select id, job_id, attempts from chunk_jobs
    where status = 'processing' and coalesce(heartbeat_at, updated_at) < clock_timestamp() - p_stale
    order by coalesce(heartbeat_at, updated_at)
    limit 1
  loop
    perform from large_conversion_jobs where id = c.job_id for no key update;
    update chunk_jobs set
      status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0,
      not_before = clock_timestamp(), updated_at = clock_timestamp()
    where id = c.id and status = 'processing' and coalesce(heartbeat_at, updated_at) < clock_timestamp() - p_stale
    returning attempts into c.attempts;
    continue when not found;
    v_count := v_count + 1;
    if c.attempts >= p_max_attempts then
      perform fail_conversion_job(c.job_id, coalesce(p_reasons ->> 'worker_died', 'worker_died'));
    else
      perform conversion_progress(c.job_id);
    end if;
  end loop;
  if v_count > 0 then
    return v_count;
  end if;
  select j.id into v_job from large_conversion_jobs j
  where j.status in ('pending', 'processing') and j.updated_at < clock_timestamp() - p_stale and j.total_pages > 0
    and not exists (select from chunk_jobs x where x.job_id = j.id)
  limit 1
  for no key update skip locked;
  if found and make_missing_chunks(v_job) then
    perform conversion_progress(v_job);
    return 1;
  end if;
  return 0;
end
$$;
