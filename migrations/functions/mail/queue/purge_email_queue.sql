-- Forgets requests that ended 30 days ago; returns how many. Housekeeping on the leader.
create or replace function purge_email_queue() returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_count integer;
begin
  delete from email_send_queue q where q.ended_at < now() - interval '30 days';
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
