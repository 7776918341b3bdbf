-- The beginning of this day, UTC.
create or replace function this_midnight() returns timestamptz
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select date_trunc('day', now(), 'UTC')
$$;
