-- Takes the locks of the keys of attempts that do not know their message yet, and of retries: who was erased meanwhile is read from
-- the key's other rows. A step of `record_email_sends`.
create or replace function lock_keys_of_sends(p_entries jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform lock_email_keys(array(
    select coalesce(x.key_tag, x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex'))
    from jsonb_to_recordset(p_entries) as x(
      provider text, provider_message_id text, key_hash text, key_tag text, idempotency_key text, settle jsonb)
    where x.provider is not null and (x.provider_message_id is null or x.settle -> 'isRetry' = 'true')
  ));
end
$$;
