-- Decides whether an outreach mail may go out: `Begun` with the id of its row, `Unsubscribed`, or `Settled` with the row of
-- this key where the mail went out, or may have, longer ago than the library remembers its key. A send with a deferral that
-- ended without a mail is begun again (R3). `mail_key`: the key under which the mail is sent.
--
-- Lock order: prospect, send; the reverse of the writers of events. Where the two meet, PostgreSQL ends one of them with a
-- deadlock, and the adapter repeats it.
create or replace function begin_outreach_send(p_email text, p_name text, p_campaign text, p_subject text, p_idempotency_key text)
returns table (decision text, id uuid, status text, provider_message_id text, mail_key text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  r email_sends;
  v_id uuid;
  v_prospect uuid;
  v_status text;
  v_now timestamptz;
  v_open record;
begin
  if not exists (select from unsubscribes u where u.email in (p_email, erased_alias(p_email))) then
    perform mark_prospects(array[p_email], 'active');
    update prospects p set name = coalesce(p_name, p.name), updated_at = now() where p.email = p_email
    returning p.id, p.status into v_prospect, v_status;
  end if;
  if coalesce(v_status, 'unsubscribed') in ('unsubscribed', 'complained') then
    return query select 'Unsubscribed', null::uuid, null::text, null::text, null::text;
    return;
  end if;

  insert into email_sends (prospect_id, campaign, subject, idempotency_key, attempted_at)
  values (v_prospect, p_campaign, p_subject, p_idempotency_key, clock_timestamp())
  on conflict (idempotency_key) do nothing
  returning * into r;
  if found then
    return query select 'Begun', r.id, 'queued', null::text, p_idempotency_key;
    return;
  end if;

  select s.id into v_id from email_sends s where s.idempotency_key = p_idempotency_key for update;
  perform settle_outreach_send(v_id);
  select * into r from email_sends s where s.id = v_id;
  v_open := email_open_key(p_idempotency_key);
  v_now := clock_timestamp();
  if r.provider_message_id is null and (
    r.status = 'suppressed' or r.status = 'failed' and r.error_kind in ('rejected', 'unavailable')
    -- It was deferred, and the deferral ended without a mail (R3).
    or v_open.state = 'new' and v_open.ended is not null
  ) then
    -- This is a first attempt again.
    update email_sends s set
      status = 'queued', error = null, error_kind = null, attempted_at = v_now, prospect_id = v_prospect, updated_at = now()
    where s.id = r.id;
  elsif not (r.status in ('queued', 'failed') and r.attempted_at > v_now - interval '24 hours') then
    return query select 'Settled', r.id, r.status, r.provider_message_id, null::text;
    return;
  end if;
  return query select 'Begun', r.id, 'queued', null::text, v_open.key;
end
$$;
