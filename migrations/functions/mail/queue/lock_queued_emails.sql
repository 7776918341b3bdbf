-- Locks the requests that entries name, in one order for all callers, before whatever else their transaction locks.
create or replace function lock_queued_emails(p_entries jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from email_send_queue q
  where q.id = any (array(select (x ->> 'queue_id')::uuid from jsonb_array_elements(p_entries) as x))
  order by q.id
  for no key update;
end
$$;
