-- Releases a job that has waited for too long to on-demand processing, whatever the batch service says (B4, BATCH-15); its row
-- is closed out as by process-now, so that a batch job that may exist is still found, stopped and billed. One a call, so that
-- no two jobs are locked at once; returns its id, or null. Lock order: as `make_conversion_job_interactive`.
-- The planner setting: see `stranded_batch_conversion_jobs`.
create or replace function release_overdue_batch_job(
  p_give_up interval, p_stuck interval, p_slack interval, p_window interval default interval '90 minutes'
) returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_id uuid;
  j large_conversion_jobs;
  b conversion_batch_jobs;
  v_reason text;
begin
  for v_id in
    select x.id from large_conversion_jobs x left join conversion_batch_jobs y on y.job_id = x.id
    where x.status = 'waiting_batch' and overdue_batch_reason(x, y, p_give_up, p_stuck, p_slack) is not null
  loop
    select * into j from large_conversion_jobs x where x.id = v_id for no key update skip locked;
    continue when not found;
    -- Its preparer or the driver may have moved the row meanwhile.
    select * into b from conversion_batch_jobs x where x.job_id = v_id for no key update;
    v_reason := overdue_batch_reason(j, b, p_give_up, p_stuck, p_slack);
    if v_reason is not null then
      perform close_conversion_batch_row(v_id, v_reason);
      perform resume_batch_conversion_job(v_id, '{}', p_window);
      return v_id;
    end if;
  end loop;
  return null;
end
$$;
