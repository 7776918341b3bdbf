-- A chunk's result is stored. Returns `assembling` in place of `completed` where it was the last one: a job is assembled when
-- none of its chunks is unfinished, whatever number of them was written down (DOC-14). `stale`: the result is to be dropped.
-- Lock order: job, chunk, file.
create or replace function complete_chunk(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_unanswered integer default 0,
  p_served integer default 0
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c chunk_jobs;
  j large_conversion_jobs;
  v_whole boolean;
begin
  perform book_costs(p_costs);
  select * into j from large_conversion_jobs where id = (select job_id from chunk_jobs where id = p_id) for no key update;
  select * into c from chunk_jobs where id = p_id for no key update;
  if not found or c.lease is distinct from p_lease then
    return 'stale';
  end if;
  if c.status = 'completed' then
    return case when j.status = 'assembling' then 'assembling' else 'completed' end;
  end if;
  if c.status <> 'processing' or j.status not in ('pending', 'processing', 'paused_budget') then
    return 'stale';
  end if;
  update chunk_jobs set
    status = 'completed', result_key = p_result_key, pages_done = last_page - first_page + 1, unanswered_pages = p_unanswered,
    served_pages = p_served, updated_at = clock_timestamp()
  where id = p_id;
  v_whole := not exists (select from chunk_jobs where job_id = j.id and status <> 'completed');
  update large_conversion_jobs set
    done_chunks = done_chunks + 1, updated_at = clock_timestamp(),
    status = case when v_whole then 'assembling' else status end
  where id = j.id;
  perform conversion_progress(j.id);
  return case when v_whole then 'assembling' else 'completed' end;
end
$$;
