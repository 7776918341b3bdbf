-- The requests that a sender takes next, locked; what another sender is about to take is passed over. `p_oldest` of them are the oldest of all categories, the
-- rest go by category (QUEUE-4). A step of `take_queued_emails`. The settings: by the index alone, whatever the statistics say of a queue that
-- grew quickly.
create or replace function pick_queued_emails(p_providers text[], p_lanes smallint[], p_count integer, p_oldest integer, p_now timestamptz)
returns uuid[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_ids uuid[] := '{}';
begin
  if p_oldest > 0 then
    v_ids := array(
      select x.id
      from unnest(p_providers) as p(provider) cross join unnest(p_lanes) as l(lane) cross join lateral (
        select q.id, q.due_at from email_send_queue q
        where q.provider = p.provider and q.lane = l.lane and q.due_at <= p_now
        order by q.due_at limit p_oldest for update skip locked
      ) as x
      order by x.due_at limit p_oldest
    );
  end if;
  -- Not sorted: a lane is read only where the ones before it left places.
  v_ids := v_ids || array(
    select x.id
    from unnest(p_lanes) as l(lane) cross join lateral (
      select y.id
      from unnest(p_providers) as p(provider) cross join lateral (
        select q.id, q.due_at from email_send_queue q
        where q.provider = p.provider and q.lane = l.lane and q.due_at <= p_now and q.id <> all (v_ids)
        order by q.due_at limit p_count - cardinality(v_ids) for update skip locked
      ) as y
      order by y.due_at limit p_count - cardinality(v_ids)
    ) as x
    limit p_count - cardinality(v_ids)
  );
  return v_ids;
end
$$;
