-- What the alarms and metrics of event hooks are about: hooks that are off by themselves, events that are to be sent (10,000 at most),
-- that died within `p_window`, and for how many seconds the oldest has been due; one that is being sent is due at the end of its lease.
create or replace function event_hook_health(p_window interval, out off integer, out pending integer, out dead integer, out oldest_s float8)
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  -- A clock that is read in a condition keeps its index from being used.
  v_from timestamptz := clock_timestamp() - p_window;
begin
  off := (select count(*) from event_hooks h where h.off_by = 'itself');
  pending := (select count(*) from (select from event_hook_deliveries d where d.state = 'pending' limit 10000) as x);
  dead := (select count(*) from event_hook_deliveries d where d.state = 'dead' and d.ended_at > v_from
    and d.tried_at is not null);
  oldest_s := (
    select coalesce(max(extract(epoch from clock_timestamp() - x.next_at)), 0)::float8
    from event_hooks h
    cross join lateral (
      select min(d.next_at) as next_at from event_hook_deliveries d
      where d.hook_id = h.id and d.state = 'pending'
    ) as x
    where h.off_by is null
  );
  oldest_s := greatest(oldest_s, 0);
end
$$;
