-- The subject by which events of a mail are ordered: its idempotency key, if the row knows it.
create or replace function hook_subject_of_mail(r email_log) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return coalesce('key:' || r.key_hash, 'tag:' || r.key_tag, 'mail:' || r.provider || ':' || r.provider_message_id, 'mail:' || r.id);
end
$$;
