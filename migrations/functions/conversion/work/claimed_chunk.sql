-- What the worker of a chunk has to know.
create or replace function claimed_chunk(p_chunk_id uuid)
returns table (
  id uuid, job_id uuid, chunk_index integer, first_page integer, last_page integer, attempts integer, file_id uuid,
  object_key text, options jsonb, total_pages integer
)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select c.id, c.job_id, c.chunk_index, c.first_page, c.last_page, c.attempts, j.file_id, f.object_key, j.options,
    j.total_pages
  from chunk_jobs c
  join large_conversion_jobs j on j.id = c.job_id
  join files f on f.id = j.file_id
  where c.id = p_chunk_id
$$;
