-- Ends a job that is not to go on: unfinished chunks end with it, the hold is released, the file gets the reason. An
-- assembler gives its lease, and fails nothing where it has lost it. True for the call that did it. Lock order: job, chunks,
-- file, flyer job, customer, hold.
create or replace function fail_conversion_job(p_job_id uuid, p_error text, p_lease uuid default null) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_file uuid;
  v_flyer uuid;
begin
  -- Its cost is summed up under the lock, so that it includes what was booked just before.
  perform from large_conversion_jobs where id = p_job_id for no key update;
  update large_conversion_jobs set
    status = 'failed', error = p_error, finished_at = v_now, updated_at = v_now, lease = null,
    total_cost_usd = conversion_cost(id)
  where id = p_job_id and status in ('pending', 'waiting_batch', 'processing', 'paused_budget', 'assembling')
    and (p_lease is null or lease = p_lease)
  returning file_id, (options ->> '_compedFlyerJobId')::uuid into v_file, v_flyer;
  if not found then
    return false;
  end if;
  update chunk_jobs set status = 'failed', lease = null, updated_at = v_now
  where job_id = p_job_id and status <> 'completed';
  update files set status = 'failed', error = p_error, phase = null, updated_at = v_now
  where id = v_file and job_id = p_job_id and status = 'chunked_processing';
  -- A free reflow that failed may be chosen again.
  update flyer_jobs set comp_conversion_id = null, updated_at = v_now
  where id = v_flyer and comp_conversion_id = p_job_id;
  perform release_hold(p_job_id, 'failed');
  return true;
end
$$;
