-- How long a claimed alert is leased. Longer than the alert's own time limit (`ALERT_TIME_LIMIT`, two minutes).
create or replace function email_alert_lease() returns interval
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return interval '3 minutes';
end
$$;
