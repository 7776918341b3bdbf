-- Claims alerts that are due: claimed by a process that neither confirmed nor released them in time, or released and not
-- claimed since. Of several callers at once each alert goes to one. The leader's sweep calls it.
-- The settings: by the indexes alone, whatever the statistics say of a log that grew quickly.
create or replace function claim_due_email_alerts(p_limit integer default 1) returns table (send_id uuid, details jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
begin
  -- Drops alerts about mails that no longer have a row, of those that come next.
  delete from email_alerts a
  where a.send_id = any (array(select b.send_id from email_alerts b where b.due_at <= v_now order by b.due_at limit 100))
    and not exists (select from email_log l where l.id = a.send_id);
  return query
  with due as (
    select a.send_id from email_alerts a join email_log l on l.id = a.send_id
    where a.due_at <= v_now
    order by a.due_at
    limit p_limit
    for update skip locked
  ), claimed as (
    update email_alerts a set due_at = v_now + email_alert_lease(), attempts = a.attempts + 1
    from due where a.send_id = due.send_id
    returning a.send_id, a.details
  ), noted as (
    update email_log l set alerted_at = v_now, updated_at = now()
    from claimed where l.id = claimed.send_id and l.alerted_at is null
  )
  select claimed.send_id, claimed.details from claimed;
end
$$;
