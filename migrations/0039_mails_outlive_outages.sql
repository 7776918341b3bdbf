-- Mails of convert-by-email outlive outages: only a worker that died counts as an attempt. What fails around a mail (the object
-- store, the pipeline, the database) is noted beside the attempts, with the part that failed and since when.

alter table intake_mails
  -- Failures of this step that were no fault of the mail, in a row.
  add column failures integer not null default 0,
  -- The part that fails, since when without a gap, and when it did last.
  add column failing_part text,
  add column failing_since timestamptz,
  add column failed_at timestamptz,
  -- Whose lease was taken over as stale: that worker may turn out to be alive.
  add column former_lease uuid;

-- As in 0027; a lease that is taken over is kept, so that its worker can say that it had not died.
create or replace function claim_mail(p_step text, p_lease uuid, p_stale interval) returns setof intake_mails
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from intake_mails x
    where x.step = p_step
      and (x.lease = p_lease or (x.not_before <= clock_timestamp()
        and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)))
    order by x.lease is not distinct from p_lease desc, x.not_before
    limit 1
    for no key update skip locked
  )
  update intake_mails m set
    former_lease = case when m.lease is not distinct from p_lease then m.former_lease else coalesce(m.lease, m.former_lease) end,
    lease = p_lease, heartbeat_at = clock_timestamp(),
    attempts = m.attempts + case when m.lease is not distinct from p_lease then 0 else 1 end
  from n
  where m.id = n.id
  returning m.*
$$;

-- Gives a mail back after `p_part` failed, to be taken again after `p_after`: no attempt is lost, and what is set aside for it stays
-- so for `p_window`. Failures of one part with no more than `p_gap` between them are one outage. Answers `deferred`, `over` (the outage
-- lasts longer than `p_limit`; nothing was written) or `stale`. A worker whose lease was taken over meanwhile had not died: the attempt
-- that was counted for it is taken back.
create function defer_mail(
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

-- As in 0021; the next step begins with no failures of this one.
create or replace function admit_mail(
  p_id uuid, p_lease uuid, p_customer_id uuid, p_filename text, p_file_bytes integer, p_pages integer, p_ignored jsonb,
  p_source_key text, p_window interval, p_recipient text, p_ack jsonb
) returns table (answer text, plan text, balance integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step = 'ended' then
    return query select 'stale', null::text, null::integer;
    return;
  end if;
  if m.step = 'converting' then
    return query select 'admitted', null::text, null::integer;
    return;
  end if;
  if not place_hold(p_customer_id, p_id, p_pages, p_window) then
    return query select 'insufficient', f.plan, greatest(f.credits, f.free_pages) from available_funds(p_customer_id) f;
    return;
  end if;
  update intake_mails set
    step = 'converting', customer_id = p_customer_id, filename = p_filename, file_bytes = p_file_bytes, pages = p_pages,
    ignored = p_ignored, source_key = p_source_key, lease = null, heartbeat_at = null, attempts = 0, former_lease = null,
    failures = 0, failing_part = null, failing_since = null, failed_at = null, not_before = clock_timestamp()
  where id = p_id;
  perform queue_reply(p_id, p_recipient, p_ack);
  return query select 'admitted', null::text, null::integer;
end
$$;

select secure_function('defer_mail(uuid, uuid, interval, text, interval, interval, interval)');
