-- What becomes of a job's batch row when its owner acts (BATCH-41): without one, a closed row keeps the driver away; an open
-- one gets the reason, and its batch job is stopped at the next poll, which is due at once. Returns the state that was found,
-- or `none`. Its caller holds the job.
create or replace function close_conversion_batch_row(p_job_id uuid, p_reason text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_state text;
begin
  insert into conversion_batch_jobs (job_id, state, outcome, close_reason, closed_at)
  values (p_job_id, 'closed', 'skipped', p_reason, clock_timestamp())
  on conflict (job_id) do nothing;
  if found then
    return 'none';
  end if;
  update conversion_batch_jobs set close_reason = coalesce(close_reason, p_reason), next_poll_at = clock_timestamp()
  where job_id = p_job_id and state <> 'closed'
  returning state into v_state;
  return coalesce(v_state, 'closed');
end
$$;
