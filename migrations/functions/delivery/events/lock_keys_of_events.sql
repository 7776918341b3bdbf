-- Takes the locks of the keys that events name, but for mails that have a row which the library wrote, or for which an event named its
-- key: that is evidence already. A step of `record_email_events`. Rows are looked for as in `write_rows_of_events`.
create or replace function lock_keys_of_events(p_events jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform lock_email_keys(array(
    select x.key_tag from jsonb_to_recordset(p_events) as x(provider text, provider_message_id text, key_tag text)
    where x.key_tag is not null and (
      select l.outcome is not null or l.key_tag is not null from email_log l
      where l.provider = x.provider and l.provider_message_id between x.provider_message_id and x.provider_message_id
      order by l.provider_message_id
      limit 1
    ) is not true
  ));
end
$$;
