-- Writes rows that events made, or locks those that their mails have, in the order of their mails; returns the ids of those that it
-- wrote. One statement: its set-up costs more than a row. A step of `record_email_events`.
create or replace function insert_or_lock_rows(p_rows email_log[]) returns uuid[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_written uuid[];
begin
  with written as (
    insert into email_log as l (
      id, from_address, to_addresses, subject, status, provider, provider_message_id, last_event, last_event_at, raw,
      error, key_hash, key_tag, alerted_at, suppression_marks, accounts
    )
    select
      r.id, r.from_address, r.to_addresses, r.subject, r.status, r.provider, r.provider_message_id, r.last_event,
      r.last_event_at, r.raw, r.error, r.key_hash, r.key_tag, r.alerted_at, r.suppression_marks, r.accounts
    from unnest(p_rows) as r
    order by r.provider collate "C", r.provider_message_id collate "C"
    -- Locks the row and changes nothing.
    on conflict (provider, provider_message_id) do update set updated_at = l.updated_at where false
    returning l.id
  )
  select coalesce(array_agg(w.id), '{}') into v_written from written w;
  return v_written;
end
$$;
