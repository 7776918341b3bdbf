-- Notes how tries ended, several in one call: entries { id, lease, received, status, answer, error }. A receipt counts also after its
-- lease, since the receiver has the event; a failure only under its lease: the event is tried again after the delay that follows
-- its tries, and is dead once the delays are used up. What follows it in its subject becomes due with it, or at once,
-- unless somebody else has its row: a due time is a hint. Lock order: deliveries by id, hooks by id.
-- The settings and the lists of ids: by the indexes alone, whatever the statistics say of deliveries that became many quickly.
create or replace function end_event_hook_tries(p_ends jsonb, p_delays interval[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  d event_hook_deliveries;
  v_ended event_hook_deliveries[] := '{}';
begin
  for d in
    select x.* from jsonb_to_recordset(p_ends) as e(id uuid, lease uuid, received boolean)
    join event_hook_deliveries x on x.id = e.id
    where x.id = any (array(select y.id from jsonb_to_recordset(p_ends) as y(id uuid)))
      and x.state <> 'delivered' and (e.received or x.lease = e.lease)
    order by x.id
    for update of x
  loop
    v_ended := v_ended || d;
  end loop;
  update event_hook_deliveries x set
    state = case when e.received then 'delivered' when e.delay is null then 'dead' else 'pending' end,
    next_at = case when not e.received then v_now + e.delay end,
    ended_at = case when e.received or e.delay is null then v_now end,
    lease = null, answer_status = e.status, answer = e.answer, error = e.error
  from (
    select y.*, p_delays[o.tries] as delay
    from jsonb_to_recordset(p_ends) as y(id uuid, received boolean, status integer, answer text, error text)
    join unnest(v_ended) as o on o.id = y.id
  ) as e
  where x.id = any (array(select o.id from unnest(v_ended) as o)) and x.id = e.id;
  update event_hook_deliveries x set next_at = greatest(v_now, x.wait_until, n.next_at)
  from (
    select w.id, z.next_at
    from unnest(v_ended) as y
    join event_hook_deliveries z on z.id = y.id and not z.again
    cross join lateral (
      select v.id from event_hook_deliveries v
      where v.hook_id = z.hook_id and v.subject between z.subject and z.subject and v.sequence > z.sequence
        and v.state = 'pending' and not v.again and v.tries = 0
      order by v.subject, v.sequence
      for update skip locked
    ) as w
    where z.id = any (array(select o.id from unnest(v_ended) as o))
  ) as n
  where x.id = n.id;
  perform from event_hooks h where h.id in (select o.hook_id from unnest(v_ended) as o) order by h.id for no key update;
  update event_hooks h set received_at = v_now, failing_since = null
  where (h.failing_since is not null or h.received_at is null or h.received_at < v_now - interval '10 seconds')
    and h.id in (select o.hook_id from jsonb_to_recordset(p_ends) as e(id uuid, received boolean)
      join unnest(v_ended) as o on o.id = e.id where e.received);
  update event_hooks h set failed_at = v_now, failing_since = coalesce(h.failing_since, v_now)
  where h.id in (select o.hook_id from jsonb_to_recordset(p_ends) as e(id uuid, received boolean)
    join unnest(v_ended) as o on o.id = e.id where not e.received);
end
$$;
