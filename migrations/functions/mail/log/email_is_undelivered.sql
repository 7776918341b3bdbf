-- Whether a row was accepted and ended without being delivered. Equals `isUndelivered` in the domain (EVENT-16).
create or replace function email_is_undelivered(p_status text, p_error text) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_error is not null and p_status in ('sent', 'delivery_delayed');
end
$$;
