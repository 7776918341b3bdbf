-- A caller is answered `deferred` long before the end of a deferral. Here it learns that end, from the send log.

-- How the deferral of a key ended: `sent` (or further), `failed`, `suppressed`; `deferred` while its retries are under way;
-- null where nothing under the key was ever deferred. No retry goes out 24 hours after the first attempt: a deferral whose
-- end is unknown by then has failed.
create function email_deferral_end(p_idempotency_key text) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case
    when coalesce(bool_or(l.outcome = 'deferred'), false) is false then null
    when bool_or(l.outcome = 'sent' or l.provider_message_id is not null) then 'sent'
    else (array_agg(
      case
        when l.outcome = 'deferred' and l.created_at <= clock_timestamp() - interval '24 hours' then 'failed'
        else l.outcome
      end
      order by l.created_at desc, l.id desc))[1]
  end
  from email_log l
  where l.key_hash = encode(sha256(convert_to(p_idempotency_key, 'UTF8')), 'hex')
$$;

-- The key under which a mail is asked for now: the key itself; where its deferral ended without a mail, KEY/2, then KEY/3,
-- and so on. `state`: new (never deferred), deferred, sent. `ended`: how the deferral before the open key ended.
create function email_open_key(p_key text, out key text, out state text, out ended text)
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_number integer := 1;
begin
  loop
    key := case v_number when 1 then p_key else p_key || '/' || v_number end;
    state := coalesce(email_deferral_end(key), 'new');
    exit when state not in ('failed', 'suppressed');
    ended := state;
    v_number := v_number + 1;
  end loop;
end
$$;

select secure_function('email_deferral_end(text)');
select secure_function('email_open_key(text)');

-- Invitations: each sending has a key of its own, by which its end is found.
alter table team_invites add column mail_key text;

drop function begin_team_invite(uuid, text, bytea, integer, integer);

-- As in 0013; an invitation whose mail was deferred and did not go out in the end is sent again. `mail_key` is the key of
-- the sending that the caller holds.
create function begin_team_invite(
  p_customer_id uuid, p_email text, p_token_hash bytea, p_lifetime_seconds integer, p_lease_seconds integer
)
returns table (invite_id uuid, todo text, inviter text, expires_at timestamptz, mail_key text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_inviter text;
  v_invite team_invites;
  v_todo text := 'Send';
begin
  -- For share: a deletion of the account waits, or this waits for it.
  select coalesce(c.name, c.email) into v_inviter
  from customers c where c.id = p_customer_id and c.deleted_at is null for share;
  if not found then return; end if;
  loop
    insert into team_invites as i (customer_id, email, token_hash, expires_at, sending_until, mail_key)
    values (
      p_customer_id, p_email, p_token_hash, clock_timestamp() + make_interval(secs => p_lifetime_seconds),
      clock_timestamp() + make_interval(secs => p_lease_seconds), 'team-invite:' || gen_random_uuid()
    )
    on conflict (customer_id, email) where accepted_at is null do update
    set token_hash = excluded.token_hash, expires_at = excluded.expires_at, sending_until = excluded.sending_until,
      mail_key = excluded.mail_key, sent_at = null
    where (i.sent_at is null or i.expires_at <= clock_timestamp()
        or coalesce(email_deferral_end(i.mail_key) in ('failed', 'suppressed'), false))
      and (i.sending_until is null or i.sending_until <= clock_timestamp())
    returning * into v_invite;
    exit when found;
    select * into v_invite from team_invites i
    where i.customer_id = p_customer_id and i.email = p_email and i.accepted_at is null;
    continue when not found; -- Accepted or withdrawn since.
    v_todo := case when v_invite.sent_at is null then 'Busy' else 'Sent' end;
    exit;
  end loop;
  return query select v_invite.id, v_todo, v_inviter, v_invite.expires_at, v_invite.mail_key;
end
$$;

select secure_function('begin_team_invite(uuid, text, bytea, integer, integer)');

-- Outreach. Deferred sends whose end is still to be noted.
create index email_sends_deferred on email_sends (created_at) where status = 'deferred';

-- Brings a deferred outreach send to the end that the log knows; whether it did. The row is locked by this.
create function settle_outreach_send(p_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_key text;
  v_open record;
  v_end text;
begin
  select s.idempotency_key into v_key from email_sends s
  where s.id = p_id and s.status = 'deferred' and s.idempotency_key is not null
  for update;
  if not found then
    return false;
  end if;
  v_open := email_open_key(v_key);
  v_end := case v_open.state when 'sent' then 'sent' when 'new' then v_open.ended end;
  if v_end is null then
    return false;
  end if;
  update email_sends s set
    status = v_end,
    sent_at = case when v_end = 'sent' then coalesce(s.sent_at, now()) else s.sent_at end,
    error = case v_end
      when 'failed' then 'it may have arrived: its retries ended without an answer'
      when 'suppressed' then 'the recipient was suppressed before its retry'
    end,
    error_kind = case v_end when 'failed' then 'ambiguous' end,
    updated_at = now()
  where s.id = p_id;
  return true;
end
$$;

-- Brings every deferred outreach send that has ended to its end; how many.
create function settle_outreach_sends() returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    select s.id from email_sends s
    where s.status = 'deferred' and s.idempotency_key is not null
    order by s.created_at, s.id
    for update skip locked
  loop
    if settle_outreach_send(v_id) then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end
$$;

drop function begin_outreach_send(text, text, text, text, text);

-- As in 0014; a send whose deferral ended without a mail is begun again. `mail_key`: the key under which the mail is sent.
create function begin_outreach_send(p_email text, p_name text, p_campaign text, p_subject text, p_idempotency_key text)
returns table (decision text, id uuid, status text, provider_message_id text, mail_key text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
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
    -- It was deferred, and that ended without a mail.
    or r.status = 'failed' and v_open.state = 'new' and v_open.ended is not null
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

select secure_function('settle_outreach_send(uuid)');
select secure_function('settle_outreach_sends()');
select secure_function('begin_outreach_send(text, text, text, text, text)');
