-- Upkeep, once a minute on the leader. Switches off hooks without a receipt for five days and with a failed try on the last of them:
-- their events are dead, redeliverable. Makes due what an event before it no longer holds back, though it was written while that one was
-- being received. Deletes what ended 30 days ago. Returns the hooks that it switched off.
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
  where d.state = 'pending' and d.hook_id in (select h.id from event_hooks h where h.off_by = 'itself');
  update event_hook_deliveries d set next_at = v_now
  where d.state = 'pending' and d.tries = 0 and d.next_at > v_now + interval '1 minute' and not exists (
    select from event_hook_deliveries b
    where b.hook_id = d.hook_id and b.subject = d.subject and b.state = 'pending' and not b.again and b.sequence < d.sequence
  );
  delete from event_hook_deliveries d where d.state <> 'pending' and d.ended_at < v_now - interval '30 days';
end
$$;
