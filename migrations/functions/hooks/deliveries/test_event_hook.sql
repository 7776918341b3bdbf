-- Writes an event of the type `test` for one hook, whatever types it asks for; returns the delivery's id, null where the hook is off or
-- unknown.
create or replace function test_event_hook(p_id uuid) returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_delivery uuid;
  v_now timestamptz := clock_timestamp();
begin
  insert into event_hook_deliveries (hook_id, message_id, type, subject, body, state, next_at, created_at)
  select h.id, 'msg_' || replace(gen_random_uuid()::text, '-', ''), 'test', 'test:' || gen_random_uuid(),
    json_build_object('type', 'test', 'timestamp', hook_time(v_now), 'data', '{}'::json), 'pending', v_now, v_now
  from event_hooks h where h.id = p_id and h.off_by is null
  returning id into v_delivery;
  return v_delivery;
end
$$;
