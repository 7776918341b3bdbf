-- Jobs whose batch row is closed and that wait all the same: the driver ended between the two, or its resume failed. The setting: by
-- the index of waiting jobs, of which there are few; with other statistics each tick would read all closed rows, which are kept.
create or replace function stranded_batch_conversion_jobs()
returns table (job_id uuid, outcome text, cost_usd numeric)
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  select j.id, b.outcome, b.cost_usd
  from large_conversion_jobs j
  join conversion_batch_jobs b on b.job_id = j.id and b.state = 'closed'
  where j.status = 'waiting_batch'
  order by j.created_at, j.id
$$;
