-- Waiting jobs with a closed batch row: the driver ended between the two steps, or its resume failed. The planner setting makes it
-- use the index of waiting jobs, which are few; otherwise each tick could read all closed rows, which are kept.
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
