-- Notes that the alert went out, or is not wanted: nothing raises it again. Holds also where its claim was released
-- meanwhile. False where it was confirmed already, or there is no such row.
create or replace function confirm_email_alert(p_send_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  perform from email_log l where l.id = p_send_id for update;
  if not found then
    return false;
  end if;
  update email_log l set alerted_at = now(), updated_at = now() where l.id = p_send_id and l.alerted_at is null;
  insert into email_alerts as a (send_id, confirmed_at, details) values (p_send_id, now(), '{}')
  on conflict (send_id) do update set due_at = null, confirmed_at = now(), details = '{}' where a.confirmed_at is null;
  return found;
end
$$;
