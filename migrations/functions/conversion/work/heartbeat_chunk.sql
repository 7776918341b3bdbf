-- A running chunk is alive and has `p_pages_done` pages. False: it was handed on or stopped, and has to end at once (DOC-13).
-- Lock order: chunk, file, customer, hold.
create or replace function heartbeat_chunk(p_id uuid, p_lease uuid, p_window interval, p_pages_done integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
  v_before integer;
begin
  select c.job_id, c.pages_done into v_job, v_before from chunk_jobs c
  where c.id = p_id and c.status = 'processing' and c.lease = p_lease
  for no key update;
  if not found then
    return false;
  end if;
  update chunk_jobs set heartbeat_at = clock_timestamp(), pages_done = greatest(v_before, p_pages_done) where id = p_id;
  if p_pages_done > v_before then
    perform conversion_progress(v_job);
  end if;
  perform refresh_hold(v_job, p_window);
  return true;
end
$$;
