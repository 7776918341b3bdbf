-- Process-now (BATCH-40): moves a parked job to on-demand processing and closes its batch row. Returns `resumed`; `closed` where
-- the batch row was closed before, so that the driver is about to resume the job with its results; or `not_waiting`. Lock order:
-- job, batch row, then as `resume_batch_conversion_job`.
create or replace function make_conversion_job_interactive(p_job_id uuid, p_window interval default interval '90 minutes')
returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from large_conversion_jobs where id = p_job_id and status = 'waiting_batch' for no key update;
  if not found then
    return 'not_waiting';
  end if;
  if close_conversion_batch_row(p_job_id, 'user chose interactive') = 'closed' then
    return 'closed';
  end if;
  perform resume_batch_conversion_job(p_job_id, '{}', p_window);
  return 'resumed';
end
$$;
