-- Makes events of a hook due now, by their id or, all that were not received, from a time; returns how many: those that have ended, and those that
-- wait for their next try, which keep their place and the tries that are left to them. One that was never tried keeps its place among the events
-- of its subject, too. Nothing while the hook is off by itself: they would die again.
create or replace function redeliver_event_hook(p_hook_id uuid, p_id uuid, p_from timestamptz) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_count integer;
  v_now timestamptz := clock_timestamp();
begin
  update event_hook_deliveries d set
    again = d.again or (d.state <> 'pending' and d.tried_at is not null), tries = case d.state when 'pending' then d.tries else 0 end,
    state = 'pending', next_at = v_now, ended_at = null
  where d.id in (
    select x.id from event_hook_deliveries x
    where x.hook_id = p_hook_id and (x.state <> 'pending' or (x.tries > 0 and x.lease is null))
      and (x.id = p_id or (x.state <> 'delivered' and x.created_at >= p_from))
      and exists (select from event_hooks h where h.id = x.hook_id and h.off_by is distinct from 'itself')
    order by x.id
    for update
  );
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
