-- Locks the requests that entries name, in one order for all callers, before whatever else their transaction locks. An entry shows that its sender
-- lives: where another one has taken its request meanwhile, the database or the network was away, and that was no death (QUEUE-3).
create or replace function lock_queued_emails(p_entries jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_passed boolean;
begin
  with locked as materialized (
    select q.passed_lease from email_send_queue q
    where q.id = any (array(select (x ->> 'queue_id')::uuid from jsonb_array_elements(p_entries) as x))
    order by q.id
    for no key update
  )
  select bool_or(l.passed_lease is not null) into v_passed from locked l;
  if v_passed then
    update email_send_queue q set deaths = q.deaths - 1, passed_lease = null
    from jsonb_to_recordset(p_entries) as x(queue_id uuid, lease uuid)
    where q.id = x.queue_id and q.passed_lease = x.lease and q.deaths > 0;
  end if;
end
$$;
