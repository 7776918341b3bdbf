-- Drops claims that have expired: 24 hours after their last attempt, with none under way (MAIL-44). One whose process died is all that shows
-- that its key was used: it stays for 90 days, since events of a mail that may have left come for weeks, and the next use needs another tag.
-- Returns how many; housekeeping calls again while it returns `p_limit`. The setting and
-- the list of keys: no call reads more than it deletes and passes over.
create or replace function purge_email_claims(p_limit integer default 10000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_bitmapscan = off
set enable_seqscan = off
as $$
declare
  v_count integer;
begin
  with old as materialized (
    select x.key_hash from email_send_claims x
    where x.first_attempt_at <= now() - interval '24 hours' and x.last_attempt_at <= now() - interval '24 hours'
      and (x.lease_until is null or x.lease_until < now())
      and (x.state <> 'held' or not x.leaving or x.last_attempt_at <= now() - interval '90 days')
    limit p_limit
    for update skip locked
  )
  delete from email_send_claims c where c.key_hash = any (array(select old.key_hash from old));
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
