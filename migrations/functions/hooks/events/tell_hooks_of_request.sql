-- Writes an event of a request of the send queue for the hooks, while the log has no row of it.
create or replace function tell_hooks_of_request(q email_send_queue, p_status text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if any_event_hook() then
    perform tell_hooks('email.' || p_status, 'key:' || q.key_hash, v_now, jsonb_build_object(
      'sendId', null,
      'queueId', q.id,
      'idempotencyKey', q.idempotency_key,
      'category', q.category,
      'source', q.request -> 'source',
      'to', to_jsonb(email_addresses(q.request -> 'to')),
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
