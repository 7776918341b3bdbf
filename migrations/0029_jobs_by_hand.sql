-- More of the rows that are written by hand (0024): what their chunks hold, when their job is done, and who is at work on one
-- that is written down as being worked on. The product's own statements say all of it, so that for them nothing changes.

-- A job knows its pages, and its customer, from its file.
create function job_knows_its_file() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select f.pages, coalesce(new.customer_id, f.customer_id) into new.total_pages, new.customer_id
  from files f where f.id = new.file_id;
  new.total_pages := coalesce(new.total_pages, 0);
  return new;
end
$$;

create trigger large_conversion_jobs_pages before insert on large_conversion_jobs
for each row when (new.total_pages = 0) execute function job_knows_its_file();

-- Chunks whose pages, and whose number, nobody wrote down share out the document among them, each page to one (C1). Workers
-- leave the others two seconds to be written; one that comes after a worker has begun has no pages.
create function chunks_share_the_pages() returns trigger
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

create trigger chunk_jobs_pages after insert on chunk_jobs
for each row when (new.first_page = 0 and new.last_page = 0) execute function chunks_share_the_pages();

-- As in 0018; a job is put together when none of its chunks is unfinished, whatever number of them was written down.
create or replace function complete_chunk(p_chunk_id uuid, p_lease uuid, p_result_key text, p_costs jsonb) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job large_conversion_jobs;
  v_whole boolean;
begin
  select j.* into v_job from large_conversion_jobs j
  where j.id = (select job_id from chunk_jobs where id = p_chunk_id)
  for no key update;
  perform book_costs(p_costs);
  if exists (select from chunk_jobs where id = p_chunk_id and status = 'completed' and lease = p_lease) then
    return case when v_job.status = 'assembling' then 'assembling' else 'completed' end;
  end if;
  update chunk_jobs set
    status = 'completed', result_key = p_result_key, pages_done = last_page - first_page + 1, updated_at = clock_timestamp()
  where id = p_chunk_id and status = 'processing' and lease = p_lease
    and v_job.status in ('pending', 'processing', 'paused_budget');
  if not found then
    return 'stale';
  end if;
  v_whole := not exists (select from chunk_jobs where job_id = v_job.id and status <> 'completed');
  update large_conversion_jobs set
    done_chunks = done_chunks + 1, updated_at = clock_timestamp(),
    status = case when v_whole then 'assembling' else status end
  where id = v_job.id;
  perform conversion_progress(v_job.id);
  return case when v_whole then 'assembling' else 'completed' end;
end
$$;

-- A job that somebody else put to `assembling` is being put together by them, until nothing has been heard of it for as long
-- as of an assembler that died: only then do workers take it up. The product's own move tells when it was.
create function assembled_elsewhere() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.lease := coalesce(new.lease, gen_random_uuid());
  new.heartbeat_at := clock_timestamp();
  return new;
end
$$;

create trigger large_conversion_jobs_assembling_made before insert on large_conversion_jobs
for each row when (new.status = 'assembling') execute function assembled_elsewhere();
create trigger large_conversion_jobs_assembling before update of status on large_conversion_jobs
for each row when (
  new.status = 'assembling' and old.status <> 'assembling'
  and new.lease is not distinct from old.lease and new.updated_at = old.updated_at
)
execute function assembled_elsewhere();

-- The same of a file on the inline path; its conversion has an id like any other. The product's own move gives it one.
create function converted_elsewhere() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.job_id := coalesce(new.job_id, gen_random_uuid());
  new.lease := gen_random_uuid();
  new.heartbeat_at := clock_timestamp();
  new.total := greatest(new.total, new.pages);
  return new;
end
$$;

create trigger files_processing_made before insert on files
for each row when (new.status = 'processing') execute function converted_elsewhere();
create trigger files_processing before update of status on files
for each row when (
  new.status = 'processing' and old.status <> 'processing' and new.job_id is not distinct from old.job_id
)
execute function converted_elsewhere();

select secure_function(f) from unnest(array[
  'job_knows_its_file()', 'chunks_share_the_pages()', 'complete_chunk(uuid, uuid, text, jsonb)', 'assembled_elsewhere()',
  'converted_elsewhere()'
]::regprocedure[]) as f;
