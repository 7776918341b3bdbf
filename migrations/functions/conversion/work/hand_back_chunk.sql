-- Hands back the chunk of a worker that stops, or a chunk that has to wait for `p_retry_in`: the attempt does not count. Books its
-- costs. Lock order: job, chunk, file.
create or replace function hand_back_chunk(p_id uuid, p_lease uuid, p_costs jsonb, p_retry_in interval default '0')
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  perform book_costs(p_costs);
  update chunk_jobs set
    status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0, attempts = attempts - 1,
    not_before = clock_timestamp() + p_retry_in, updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning job_id into v_job;
  if not found then
    return false;
  end if;
  perform conversion_progress(v_job);
  return true;
end
$$;
