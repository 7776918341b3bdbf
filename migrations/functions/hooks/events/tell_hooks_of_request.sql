-- Writes an event of a request of the send queue for the hooks, while the log has no row of it.
create or replace function tell_hooks_of_request(q email_send_queue, p_status text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_to jsonb := q.request -> 'to';
begin
  if any_event_hook() then
    perform tell_hooks('email.' || p_status, 'key:' || q.key_hash, v_now, jsonb_build_object(
      'sendId', null,
      'queueId', q.id,
      'idempotencyKey', q.idempotency_key,
      'category', q.category,
      'source', q.request -> 'source',
      'to', case jsonb_typeof(v_to) when 'array' then v_to else jsonb_build_array(v_to) end,
      'status', p_status,
      'reason', q.error,
      'provider', nullif(q.provider, ''),
      'providerMessageId', null,
      'tags', coalesce(q.request -> 'tags', '{}'),
      'occurredAt', hook_time(v_now)
    ));
  end if;
end
$$;
