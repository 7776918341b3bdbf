-- Hands a mail back after `p_part` failed, to be claimed again after `p_after`: no attempt is lost, and what is set aside for
-- it stays so for `p_window` (INBOUND-12). Failures of one part with no more than `p_gap` between them are one outage.
-- Returns `deferred`, `over` (the outage lasts longer than `p_limit`; nothing was written) or `stale`. Where a lease
-- was taken over from a worker that lives, the attempt that was counted for the takeover is taken back. Lock order: mail, customer, hold.
create or replace function defer_mail(
  p_id uuid, p_lease uuid, p_after interval, p_part text, p_gap interval, p_limit interval, p_window interval
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_now timestamptz := clock_timestamp();
  v_since timestamptz := v_now;
begin
  select * into m from intake_mails where id = p_id and step <> 'ended' for no key update;
  if not found then
    return 'stale';
  end if;
  if m.lease is distinct from p_lease then
    update intake_mails set attempts = greatest(attempts - 1, 0), former_lease = null
    where id = p_id and former_lease = p_lease;
    return 'stale';
  end if;
  if m.failing_part = p_part and m.failed_at > v_now - p_gap then
    v_since := m.failing_since;
  end if;
  if v_since < v_now - p_limit then
    return 'over';
  end if;
  update intake_mails set
    lease = null, heartbeat_at = null, not_before = v_now + p_after, attempts = greatest(attempts - 1, 0),
    failures = failures + 1, failing_part = p_part, failed_at = v_now, failing_since = v_since
  where id = p_id;
  perform refresh_hold(p_id, p_window);
  return 'deferred';
end
$$;
