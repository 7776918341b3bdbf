-- The row that an event makes of a mail that has none, as it is before the event, but for its key; it has no `created_at`. A step of
-- `record_email_events`.
create or replace function new_row_of_event(e delivery_event) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r email_log;
begin
  r.id := gen_random_uuid();
  r.provider := e.provider;
  r.provider_message_id := e.provider_message_id;
  r.status := 'sent';
  r.to_addresses := '{}';
  r.suppression_marks := '{}';
  if e.backfill then
    r.alerted_at := now();
  end if;
  return r;
end
$$;
