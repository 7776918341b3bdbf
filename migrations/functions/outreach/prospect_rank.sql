-- The same of prospects. Equals `PROSPECT_STATUSES`.
create or replace function prospect_rank(p_status text) returns integer
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select array_position(array['active', 'bounced', 'unsubscribed', 'complained'], p_status)
$$;
