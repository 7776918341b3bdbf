-- Releases the claim of an alert that did not go out, so that the next event alerts; false where there is none, or where the alert
-- went out after all. Without such an event it is due again after a minute, and after twice the time with every further claim, up
-- to an hour.
create or replace function release_email_alert(p_send_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from email_log l where l.id = p_send_id for update;
  update email_log l set alerted_at = null, updated_at = now()
  where l.id = p_send_id and l.alerted_at is not null
    and not exists (select from email_alerts a where a.send_id = p_send_id and a.confirmed_at is not null);
  if not found then
    return false;
  end if;
  update email_alerts a set
    due_at = clock_timestamp() + least(interval '1 minute' * 2 ^ least(a.attempts - 1, 10), interval '1 hour')
  where a.send_id = p_send_id;
  return true;
end
$$;
