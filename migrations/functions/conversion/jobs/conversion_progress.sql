-- Writes a job's progress on its file, as long as the file is still converting by this job (C3). A job without a recorded number of
-- chunks has as many as there are. The file is locked before the chunks are counted: a count from before a wait would overwrite
-- what another chunk had written meanwhile.
create or replace function conversion_progress(p_job_id uuid) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select from files f
  where f.id = (select j.file_id from large_conversion_jobs j where j.id = p_job_id)
  for no key update;
  update files f set
    done = p.pages,
    phase = case
      when p.status = 'assembling' then 'Assembling'
      when p.status = 'paused_budget' then 'Paused: the daily model budget is spent'
      when p.status = 'waiting_batch' then 'Waiting for batch'
      when p.running = 0 and p.chunks = 0 then format('Queued: 0/%s chunks', p.total)
      else format('Converting: %s/%s chunks', p.chunks, p.total)
    end,
    updated_at = clock_timestamp()
  from (
    select
      j.file_id, j.status, greatest(j.total_chunks, count(c.id)) as total,
      count(*) filter (where c.status = 'completed') as chunks,
      count(*) filter (where c.status = 'processing') as running,
      coalesce(sum(case when c.status = 'completed' then c.last_page - c.first_page + 1
        when c.status = 'processing' then c.pages_done else 0 end), 0)::integer as pages
    from large_conversion_jobs j
    left join chunk_jobs c on c.job_id = j.id
    where j.id = p_job_id
    group by j.id
  ) p
  where f.id = p.file_id and f.job_id = p_job_id and f.status = 'chunked_processing'
$$;
