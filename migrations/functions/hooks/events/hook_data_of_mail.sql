-- `data` of an event of a mail. `queueId` is null for mail that did not go through the send queue.
create or replace function hook_data_of_mail(r email_log, p_occurred timestamptz, p_reason text) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return jsonb_build_object(
    'sendId', r.id,
    -- The request has the id that the library gave its row; an event may have made the row before.
    'queueId', (select q.id from email_send_queue q where q.id = coalesce(r.entry_id, r.id)),
    'idempotencyKey', r.idempotency_key,
    'category', r.category,
    'source', r.source,
    'to', to_jsonb(r.to_addresses),
    'status', r.status,
    'reason', coalesce(p_reason, r.error),
    'provider', r.provider,
    'providerMessageId', r.provider_message_id,
    'tags', coalesce(r.tags, '{}'),
    'occurredAt', hook_time(p_occurred)
  );
end
$$;
