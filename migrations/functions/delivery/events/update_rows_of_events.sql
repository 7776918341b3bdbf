-- Writes what events changed of rows that their caller has locked, in one statement: its set-up costs more than a row. A step of
-- `record_email_events`.
create or replace function update_rows_of_events(p_rows email_log[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update email_log l set
    from_address = x.from_address,
    to_addresses = x.to_addresses,
    subject = x.subject,
    status = x.status,
    last_event = x.last_event,
    last_event_at = x.last_event_at,
    raw = x.raw,
    error = x.error,
    key_tag = x.key_tag,
    alerted_at = x.alerted_at,
    suppression_marks = x.suppression_marks,
    accounts = x.accounts,
    updated_at = now()
  from unnest(p_rows) as x
  where l.id = x.id;
end
$$;
