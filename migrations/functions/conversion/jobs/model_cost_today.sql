-- What models have cost since midnight UTC.
create or replace function model_cost_today() returns numeric
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select coalesce(sum(cost_usd), 0) from cost_ledger
  where created_at >= date_trunc('day', clock_timestamp() at time zone 'utc') at time zone 'utc'
$$;
