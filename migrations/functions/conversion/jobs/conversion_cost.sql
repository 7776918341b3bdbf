-- A job's whole cost (BATCH-31): its ledger rows but for the batch job's, and the batch job's as stamped on resume. Called by
-- `JobReport`, and where a job ends.
create or replace function conversion_cost(p_job_id uuid) returns numeric
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select coalesce(sum(l.cost_usd) filter (where not coalesce((l.metadata ->> 'batch')::boolean, false)), 0)
    + coalesce((select (j.options ->> '_batchCostUsd')::numeric from large_conversion_jobs j where j.id = p_job_id), 0)
  from cost_ledger l
  where l.job_id = p_job_id
$$;
