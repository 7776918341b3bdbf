-- Writes the row that an event makes; false where its mail has one meanwhile. A step of `record_email_events`.
create or replace function insert_row_of_event(r email_log) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into email_log (
    id, from_address, to_addresses, subject, status, provider, provider_message_id, last_event, last_event_at, raw,
    error, key_hash, key_tag, alerted_at, suppression_marks, accounts
  ) values (
    r.id, r.from_address, r.to_addresses, r.subject, r.status, r.provider, r.provider_message_id, r.last_event,
    r.last_event_at, r.raw, r.error, r.key_hash, r.key_tag, r.alerted_at, r.suppression_marks, r.accounts
  )
  on conflict (provider, provider_message_id) do nothing;
  return found;
end
$$;
