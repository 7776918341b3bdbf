-- The oldest parked job that the driver has not claimed, if any. The setting: by the index of waiting jobs; with statistics from before
-- they came, each tick would read and sort all jobs.
create or replace function next_unclaimed_batch_job() returns setof large_conversion_jobs
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  select j.* from large_conversion_jobs j
  where j.status = 'waiting_batch' and not exists (select from conversion_batch_jobs b where b.job_id = j.id)
  order by j.created_at, j.id
  limit 1
$$;
