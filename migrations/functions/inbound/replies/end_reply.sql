-- Ends a reply (`p_status` sent or failed). Only one that is queued has a lease.
create or replace function end_reply(p_id uuid, p_lease uuid, p_status text, p_error text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_replies set status = p_status, error = p_error, lease = null, ended_at = clock_timestamp()
  where id = p_id and lease = p_lease;
  return found;
end
$$;
