-- Upkeep, once a minute on the leader. Switches off hooks without a receipt for five days and with a failed try on the last of them:
-- their events are dead, redeliverable. Makes due what an event before it no longer holds back, though it was written while that one was
-- being received. Deletes what ended 30 days ago. Waits for no delivery's row: the next tick finds what this one skipped. Returns the hooks that it switched off.
create or replace function tend_event_hooks() returns setof uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  return query
  update event_hooks h set off_by = 'itself', updated_at = v_now
  where h.off_by is null and h.failing_since <= v_now - interval '5 days' and h.failed_at > v_now - interval '1 day'
  returning h.id;
  update event_hook_deliveries d set
    state = 'dead', next_at = null, lease = null, ended_at = v_now, error = coalesce(d.error, 'the hook was switched off')
  where d.id in (
    select x.id from event_hook_deliveries x
    where x.state = 'pending' and x.hook_id in (select h.id from event_hooks h where h.off_by = 'itself')
    for update skip locked
  );
  update event_hook_deliveries d set next_at = v_now
  where d.id in (
    select x.id from event_hook_deliveries x
    where x.state = 'pending' and x.tries = 0 and x.next_at > v_now + interval '1 minute' and (
      -- As in `write_hook_deliveries`.
      select true from event_hook_deliveries b
      where b.hook_id = x.hook_id and b.subject between x.subject and x.subject and b.state = 'pending' and not b.again
        and b.sequence < x.sequence
      order by b.subject, b.sequence
      limit 1
    ) is not true
    for update skip locked
  );
  delete from event_hook_deliveries d where d.id in (
    select x.id from event_hook_deliveries x where x.state <> 'pending' and x.ended_at < v_now - interval '30 days'
    for update skip locked
  );
end
$$;
