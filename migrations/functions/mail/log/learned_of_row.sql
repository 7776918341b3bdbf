-- What the result of an attempt says other than its entry, since its row was there: the row's own id, and an acceptance that was proven. A
-- step of `record_email_sends`.
create or replace function learned_of_row(r email_log, e email_log_row) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return case when r.id = e.id then '{}' else jsonb_build_object('sendId', r.id) end || case
    when e.outcome = 'deferred' and r.provider_message_id is not null
    then jsonb_build_object('status', 'sent', 'providerMessageId', r.provider_message_id)
    else '{}'
  end;
end
$$;
