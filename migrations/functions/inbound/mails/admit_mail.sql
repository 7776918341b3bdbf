-- Sets the funds aside, queues the acknowledgement and lets the conversion begin, all or nothing. Returns `admitted`,
-- `insufficient` (nothing was written; the plan and what could be spent come with it) or `stale`. The next step begins with
-- no failures of this one. Lock order: mail, customer, hold.
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
