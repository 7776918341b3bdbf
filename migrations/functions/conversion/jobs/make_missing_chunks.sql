-- Makes the chunks of a job that was written by hand without any, as the executor would have made them. Its caller holds the
-- job, which does not wait for the batch lane.
create or replace function make_missing_chunks(p_job_id uuid, p_chunk_pages integer default 20) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j large_conversion_jobs;
  v_chunks integer;
begin
  select * into j from large_conversion_jobs x
  where x.id = p_job_id and x.total_pages > 0 and not exists (select from chunk_jobs c where c.job_id = x.id);
  if not found then
    return false;
  end if;
  v_chunks := (j.total_pages + p_chunk_pages - 1) / p_chunk_pages;
  -- First: chunks of a job that does not say how many it has share out its pages by a trigger.
  update large_conversion_jobs set total_chunks = v_chunks where id = p_job_id;
  insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, customer_id, queued_at)
  select p_job_id, i, i * p_chunk_pages, least((i + 1) * p_chunk_pages, j.total_pages) - 1,
    'pending', j.customer_id, j.created_at
  from generate_series(0, v_chunks - 1) as i;
  return true;
end
$$;
