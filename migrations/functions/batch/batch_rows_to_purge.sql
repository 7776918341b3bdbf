-- Closed rows with objects that nothing needs any more (BATCH-44): the job has ended, `p_after` ago or with its file deleted.
create or replace function batch_rows_to_purge(p_after interval, p_limit integer) returns table (id uuid, job_id uuid)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select b.id, b.job_id
  from conversion_batch_jobs b
  join large_conversion_jobs j on j.id = b.job_id
  join files f on f.id = j.file_id
  where b.state = 'closed' and b.purged_at is null and j.status in ('completed', 'failed', 'cancelled')
    and (f.deleted_at is not null or b.closed_at < clock_timestamp() - p_after)
  order by b.closed_at
  limit p_limit
$$;
