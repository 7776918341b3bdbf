-- `preparing` → `submitted`: the batch job exists. It is polled at once where it is to be stopped, else in `p_poll`; the
-- driver gives up when the job, not only its batch job, has waited for `p_give_up` (BATCH-15). False: the row no longer
-- belongs to this preparer. The same call again is answered as before.
create or replace function submit_conversion_batch_row(
  p_id uuid, p_lease uuid, p_arn text, p_name text, p_poll interval, p_give_up interval
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update conversion_batch_jobs b set
    state = 'submitted', batch_job_arn = p_arn, batch_job_name = p_name, submitted_at = v_now,
    deadline_at = least(v_now, j.created_at) + p_give_up,
    next_poll_at = case when b.close_reason is null then v_now + p_poll else v_now end
  from large_conversion_jobs j
  where b.id = p_id and b.state = 'preparing' and b.lease = p_lease and j.id = b.job_id;
  return found
    or exists (select from conversion_batch_jobs where id = p_id and state = 'submitted' and lease = p_lease);
end
$$;
