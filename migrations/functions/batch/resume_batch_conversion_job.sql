-- A parked job and its chunks go to on-demand processing, with `p_options_patch` in its options; its funds stay set aside for
-- `p_window`. A job without chunks gets them, since nothing else would move it. True for the call that did it: a job is
-- resumed once (X3). Lock order: job, chunks, file, customer, hold.
create or replace function resume_batch_conversion_job(
  p_job_id uuid, p_options_patch jsonb default '{}', p_window interval default interval '90 minutes'
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update large_conversion_jobs set
    status = 'pending', options = options || coalesce(p_options_patch, '{}'), updated_at = v_now
  where id = p_job_id and status = 'waiting_batch';
  if not found then
    return false;
  end if;
  perform make_missing_chunks(p_job_id);
  update chunk_jobs set status = 'pending', not_before = v_now, updated_at = v_now
  where job_id = p_job_id and status = 'waiting_batch';
  perform conversion_progress(p_job_id);
  perform refresh_hold(p_job_id, p_window);
  return true;
end
$$;
