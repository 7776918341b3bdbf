-- Removes a person from the log of mails and from the events of these. Returns the rows that named them, null for none. A step of
-- `erase_person`.
create or replace function erase_logged_person(p_email text, p_alias text) returns uuid[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_mails uuid[];
begin
  with hidden as (
    update email_log set
      to_addresses = array_replace(to_addresses, p_email, p_alias),
      other_addresses = array_replace(other_addresses, p_email, p_alias),
      dropped_addresses = array_replace(dropped_addresses, p_email, p_alias),
      error = error_without_person(error), attempts = attempts_without_person(attempts),
      suppression_marks = '{}', subject = null, raw = null, accounts = null, tags = null, updated_at = now(),
      idempotency_key = case when position(p_email in lower_address(idempotency_key)) > 0 then null else idempotency_key end
    where (to_addresses || other_addresses || dropped_addresses) @> array[p_email]
    returning id
  )
  select array_agg(id) into v_mails from hidden;
  -- By itself, since it has to see the events of transactions that held the rows.
  update email_events set raw = null, raw_bytes = 0 where send_id = any (v_mails);
  -- Mails to others that name the person, as alerts do; the index of subjects finds them.
  update email_log set subject = null, updated_at = now()
  where subject ilike '%' || regexp_replace(p_email, '([\\%_])', '\\\1', 'g') || '%';
  return v_mails;
end
$$;
