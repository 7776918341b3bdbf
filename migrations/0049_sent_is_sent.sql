-- A key under which a provider accepted a mail is done, whether or not the row of its deferral was written: a caller that
-- heard "deferred" while that row was lost would otherwise ask for the mail again once the relay has forgotten the key.
create or replace function email_deferral_end(p_idempotency_key text) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case
    when bool_or(l.outcome = 'sent' or l.provider_message_id is not null) then 'sent'
    when coalesce(bool_or(l.outcome = 'deferred'), false) is false then null
    else (array_agg(
      case
        when l.outcome = 'deferred' and l.created_at <= clock_timestamp() - interval '24 hours' then 'failed'
        else l.outcome
      end
      order by l.created_at desc, l.id desc))[1]
  end
  from email_log l
  where l.key_hash = encode(sha256(convert_to(p_idempotency_key, 'UTF8')), 'hex')
$$;
