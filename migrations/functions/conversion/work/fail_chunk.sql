-- A chunk did not succeed: it is tried again in `p_retry_in`; its last attempt fails the job. Lock order: job, chunk, then as
-- `fail_conversion_job`.
create or replace function fail_chunk(
  p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer, p_retry_in interval
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c chunk_jobs;
begin
  perform book_costs(p_costs);
  perform from large_conversion_jobs where id = (select job_id from chunk_jobs where id = p_id) for no key update;
  update chunk_jobs set
    status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0, error = p_error,
    not_before = clock_timestamp() + p_retry_in, updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning * into c;
  if not found then
    return 'stale';
  end if;
  if c.attempts >= p_max_attempts then
    perform fail_conversion_job(c.job_id, p_error);
    return 'failed';
  end if;
  perform conversion_progress(c.job_id);
  return 'pending';
end
$$;
