-- Chunks without pages, of a job that does not say how many it has, share out the document among them, each page to one
-- (C1). Workers leave two seconds for the other chunks to be written; one that comes after a worker has begun has no pages.
create or replace function chunks_share_the_pages() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_pages integer;
begin
  select total_pages into v_pages from large_conversion_jobs
  where id = new.job_id and total_chunks = 0 and total_pages > 0
  for no key update;
  if not found then
    return null;
  end if;
  if exists (select from chunk_jobs where job_id = new.job_id and lease is not null) then
    update chunk_jobs set first_page = v_pages, last_page = v_pages - 1 where id = new.id;
    return null;
  end if;
  update chunk_jobs c set
    first_page = s.first, last_page = s.next - 1, not_before = clock_timestamp() + interval '2 seconds'
  from (
    select id, (place * v_pages + chunks - 1) / chunks as first, ((place + 1) * v_pages + chunks - 1) / chunks as next
    from (
      select id, row_number() over (order by chunk_index)::integer - 1 as place, count(*) over ()::integer as chunks
      from chunk_jobs where job_id = new.job_id
    ) n
  ) s
  where c.id = s.id;
  return null;
end
$$;
