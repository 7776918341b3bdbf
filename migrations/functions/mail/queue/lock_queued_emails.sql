-- Locks the requests that entries name (queue_id, lease), in one order for all callers, before whatever else their transaction locks. Returns the
-- places, counted from 1, of the entries that their callers still hold. An entry shows that its sender
-- lives: where another one has taken its request meanwhile, the database or the network was away, and that was no death (QUEUE-3). The settings: by the
-- index alone, whatever the statistics say of a queue that grew quickly.
create or replace function lock_queued_emails(p_entries jsonb) returns integer[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_held integer[];
  v_passed boolean;
begin
  select coalesce(array_agg(l.place order by l.place) filter (where l.held), '{}'), bool_or(l.passed) into v_held, v_passed
  from (
    select x.place::integer as place, q.lease = x.lease as held, q.passed_lease = x.lease as passed
    from rows from (jsonb_to_recordset(p_entries) as (queue_id uuid, lease uuid)) with ordinality as x(queue_id, lease, place)
    join email_send_queue q on q.id = x.queue_id
    order by q.id
    for no key update of q
  ) as l;
  if v_passed then
    update email_send_queue q set deaths = q.deaths - 1, passed_lease = null
    from jsonb_to_recordset(p_entries) as x(queue_id uuid, lease uuid)
    where q.id = x.queue_id and q.passed_lease = x.lease and q.deaths > 0;
  end if;
  return v_held;
end
$$;
