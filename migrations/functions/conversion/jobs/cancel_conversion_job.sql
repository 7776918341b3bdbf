-- Cancels a conversion: the job and every unfinished chunk, in one transaction, only from `pending`, `processing`,
-- `paused_budget` or `waiting_batch` (or still queued); the hold is released, a free reflow may be chosen again, and the
-- file (where `p_reset_file`) is reset as if it had just been uploaded. A parked job's batch row, and one with a batch job that still
-- runs after process-now, is closed out with it (BATCH-41). Returns `cancelled` (the same call again too), `finishing`
-- (assembling) or `not_active`. Lock order: job, batch row, chunks, file, flyer job, customer, hold.
create or replace function cancel_conversion_job(p_job_id uuid, p_reset_file boolean default true) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q convert_queue;
  v_job large_conversion_jobs;
  v_now timestamptz := clock_timestamp();
begin
  delete from convert_queue where job_id = p_job_id returning * into q;
  if found then
    insert into large_conversion_jobs (id, file_id, customer_id, bulk_id, status, options)
    values (q.job_id, q.file_id, q.customer_id, q.bulk_id, 'pending', q.options);
  end if;
  select * into v_job from large_conversion_jobs where id = p_job_id for no key update;
  if not found then
    return 'not_active';
  end if;
  if v_job.status = 'assembling' then
    return 'finishing';
  end if;
  if v_job.status = 'cancelled' then
    return 'cancelled';
  end if;
  if v_job.status not in ('pending', 'processing', 'paused_budget', 'waiting_batch') then
    return 'not_active';
  end if;
  if v_job.status = 'waiting_batch' or exists (select from conversion_batch_jobs b where b.job_id = p_job_id) then
    perform close_conversion_batch_row(
      p_job_id, case when p_reset_file then 'Cancelled by user' else 'Cancelled: the source file was deleted' end
    );
  end if;
  update large_conversion_jobs set
    status = 'cancelled', finished_at = v_now, updated_at = v_now, total_cost_usd = conversion_cost(id)
  where id = p_job_id;
  update chunk_jobs set status = 'cancelled', updated_at = v_now where job_id = p_job_id and status <> 'completed';
  if p_reset_file then
    update files set
      status = 'uploaded', phase = null, done = 0, total = 0, error = null, updated_at = v_now
    where id = v_job.file_id and job_id = p_job_id and status = 'chunked_processing';
  end if;
  update flyer_jobs set comp_conversion_id = null, updated_at = v_now
  where id = (v_job.options ->> '_compedFlyerJobId')::uuid and comp_conversion_id = p_job_id;
  perform release_hold(p_job_id, 'cancelled');
  return 'cancelled';
end
$$;
