-- Releases the claim of an alert that did not go out, so that the next event alerts; false where there is none, or where the alert
-- went out after all. Without such an event it is due again after a minute, and after twice the time with every further claim, up
-- to an hour. Where some channels have it (p_taken), no event alerts any more: it is due for the others alone, until it was claimed
-- p_tries times.
create or replace function release_email_alert(p_send_id uuid, p_taken text[] default '{}', p_tries integer default 24)
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  perform from email_log l where l.id = p_send_id for update;
  if exists (select from email_alerts a where a.send_id = p_send_id and a.confirmed_at is not null) then
    return false;
  end if;
  if cardinality(p_taken) > 0 then
    if exists (select from email_alerts a where a.send_id = p_send_id and a.attempts >= p_tries) then
      return confirm_email_alert(p_send_id);
    end if;
    update email_alerts a set details = a.details || jsonb_build_object('taken', to_jsonb(p_taken)) where a.send_id = p_send_id;
  else
    update email_log l set alerted_at = null, updated_at = now() where l.id = p_send_id and l.alerted_at is not null;
  end if;
  if not found then
    return false;
  end if;
  update email_alerts a set
    due_at = clock_timestamp() + least(interval '1 minute' * 2 ^ least(a.attempts - 1, 10), interval '1 hour')
  where a.send_id = p_send_id;
  return true;
end
$$;
