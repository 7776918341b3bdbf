-- Prolongs the leases of requests under way and of their claims; returns those that still hold (QUEUE-3). Called by `SendQueue`. A dead sender's
-- requests become due as of their time, and are next: the end of its lease would put them behind all that waits. Lock order: requests by id, claims
-- by key, then dead senders' requests; a locked one is passed over. The settings: as in `lock_queued_emails`; the lists of ids and keys, so that no join begins with a table.
create or replace function renew_queued_emails(p_entries jsonb, p_lease interval) returns setof uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_until timestamptz := v_now + p_lease;
  v_held uuid[];
  v_keys text[];
begin
  perform lock_queued_emails(p_entries);
  with renewed as (
    update email_send_queue q set due_at = greatest(q.due_at, v_until)
    from jsonb_to_recordset(p_entries) as x(queue_id uuid, lease uuid)
    where q.id = any (array(select y.queue_id from jsonb_to_recordset(p_entries) as y(queue_id uuid)))
      and q.id = x.queue_id and q.lease = x.lease
    returning q.id
  )
  select coalesce(array_agg(r.id), '{}') into v_held from renewed r;
  v_keys := array(select q.key_hash from email_send_queue q where q.id = any (v_held));
  perform from email_send_claims c
  where c.key_hash = any (v_keys)
  order by c.key_hash for no key update;
  update email_send_claims c set
    lease_until = v_until,
    last_attempt_at = case when c.last_attempt_at = c.lease_until then v_until else c.last_attempt_at end
  from email_send_queue q
  where q.id = any (v_held) and c.key_hash = any (v_keys) and c.key_hash = q.key_hash and c.owner = q.lease::text and c.lease_until is not null;
  update email_send_queue q set due_at = q.send_at
  where q.id = any (array(
    select x.id from email_send_queue x
    where x.state = 'sending' and x.due_at > x.send_at and x.due_at <= v_now
    order by x.due_at limit 500 for update skip locked
  ));
  return query select unnest(v_held);
end
$$;
