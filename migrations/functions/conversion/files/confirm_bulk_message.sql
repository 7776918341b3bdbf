-- Closes the message: it went out, or it never will. True for the call that noted it.
create or replace function confirm_bulk_message(p_bulk_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update bulk_orders set notified_at = clock_timestamp(), notifying_until = null
  where id = p_bulk_id and notified_at is null;
  return found;
end
$$;
