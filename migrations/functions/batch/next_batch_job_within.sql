-- The oldest parked job that the driver has not claimed and that the day's budget has room for: what models have cost today, what the open batch jobs will cost, and its
-- own pages. A page costs what the records of the last batch jobs did, `p_page_usd` before there were any. The setting as in `next_unclaimed_batch_job`.
create or replace function next_batch_job_within(p_budget_usd numeric, p_page_usd numeric) returns setof large_conversion_jobs
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  with lately as (
    select sum(x.cost_usd) as usd, sum(x.records) as records from (
      select cost_usd, records from conversion_batch_jobs
      where cost_usd > 0 and records > 0
      order by closed_at desc
      limit 20
    ) x
  ), page as (
    select coalesce(usd / records, p_page_usd) as usd from lately
  ), room as (
    select p_budget_usd - model_cost_today() - page.usd * coalesce((
      select sum(case when b.input_prefix is null then j.total_pages else b.records end)
      from conversion_batch_jobs b join large_conversion_jobs j on j.id = b.job_id
      where b.state in ('preparing', 'submitted')
    ), 0) as usd
    from page
  )
  select j.* from large_conversion_jobs j
  where j.status = 'waiting_batch' and not exists (select from conversion_batch_jobs b where b.job_id = j.id)
    and j.total_pages * (select usd from page) <= (select usd from room)
  order by j.created_at, j.id
  limit 1
$$;
