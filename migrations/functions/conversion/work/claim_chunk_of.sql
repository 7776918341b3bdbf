-- Claims the next chunk of an owner's oldest job that can be worked on; no row where there is none. Without `p_primed`, jobs with
-- batch results are left to workers that can read these. It looks at eight jobs, and then only at those that are not paused:
-- thousands of jobs may wait for the next day's budget. Lock order: job, chunk, file.
create or replace function claim_chunk_of(p_customer_id uuid, p_lease uuid, p_worker text, p_primed boolean) returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_chunk uuid;
  v_queued timestamptz := '-infinity';
  v_job uuid := '00000000-0000-0000-0000-000000000000';
begin
  for i in 1..9 loop
    if i < 9 then
      -- One job after another by the index: a job of thousands of chunks is stepped over at once.
      select c.queued_at, c.job_id into v_queued, v_job from chunk_jobs c
      where c.status = 'pending' and c.customer_id = p_customer_id and (c.queued_at, c.job_id) > (v_queued, v_job)
        and c.not_before <= clock_timestamp()
      order by c.queued_at, c.job_id
      limit 1;
    else
      select c.queued_at, j.id into v_queued, v_job
      from large_conversion_jobs j
      cross join lateral (
        select x.queued_at from chunk_jobs x
        where x.job_id = j.id and x.status = 'pending' and x.customer_id = p_customer_id and x.not_before <= clock_timestamp()
        limit 1
      ) c
      where j.customer_id = p_customer_id and j.status in ('pending', 'processing')
        and (p_primed or not j.options @> '{"_batchPrimed": true}')
      order by j.created_at, j.id
      limit 1;
    end if;
    exit when not found;
    -- Every move of a chunk that waits is made under the lock of its job.
    perform from large_conversion_jobs j
    where j.id = v_job and j.status in ('pending', 'processing') and (p_primed or not j.options @> '{"_batchPrimed": true}')
    for no key update;
    continue when not found;
    select c.id into v_chunk from chunk_jobs c
    where c.customer_id = p_customer_id and c.queued_at = v_queued and c.job_id = v_job and c.status = 'pending'
      and c.not_before <= clock_timestamp()
    order by c.chunk_index
    limit 1;
    continue when not found;
    update chunk_jobs c set
      status = 'processing', worker = p_worker, lease = p_lease, heartbeat_at = clock_timestamp(),
      attempts = c.attempts + 1, pages_done = 0, error = null, updated_at = clock_timestamp()
    where c.id = v_chunk;
    update large_conversion_jobs j set status = 'processing', updated_at = clock_timestamp()
    where j.id = v_job and j.status = 'pending';
    perform conversion_progress(v_job);
    return v_chunk;
  end loop;
  return null;
end
$$;
