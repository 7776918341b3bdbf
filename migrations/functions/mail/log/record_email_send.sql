-- Writes one row of the library: `record_email_sends` for one entry. For callers in SQL.
create or replace function record_email_send(p_entry jsonb)
returns table (send_id uuid, status text, provider_message_id text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.send_id, x.status, x.provider_message_id from record_email_sends(jsonb_build_array(p_entry)) as x
$$;
