-- A time as the bodies of events have it.
create or replace function hook_time(p_at timestamptz) returns text
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;
