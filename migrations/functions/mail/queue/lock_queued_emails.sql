-- Locks the requests that entries name (queue_id, lease), in one order for all callers, before whatever else their transaction locks. Returns the
-- places, counted from 1, of the entries whose request is still the caller's; others are not locked. The setting: by the index alone, whatever the
-- statistics say of a queue that grew quickly.
create or replace function lock_queued_emails(p_entries jsonb) returns integer[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return (
    select coalesce(array_agg(held.place order by held.place), '{}')
    from (
      select x.place::integer as place
      from rows from (jsonb_to_recordset(p_entries) as (queue_id uuid, lease uuid)) with ordinality as x(queue_id, lease, place)
      join email_send_queue q on q.id = x.queue_id and q.lease = x.lease
      order by q.id
      for no key update of q
    ) as held
  );
end
$$;
