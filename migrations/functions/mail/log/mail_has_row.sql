-- Whether the log has the row of a provider's message; its caller's settings apply. For the `between` see `write_rows_of_events`.
create or replace function mail_has_row(p_provider text, p_message_id text) returns boolean
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return coalesce((
    select true from email_log l
    where l.provider = p_provider and l.provider_message_id between p_message_id and p_message_id
    order by l.provider_message_id
    limit 1
  ), false);
end
$$;
