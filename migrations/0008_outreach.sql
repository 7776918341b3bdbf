-- Outreach: campaign sends, prospects, and unsubscribes (EVENT-70).
-- Rules: docs/reference/specification/delivery.md, "Outreach".


-- Words

-- How far a campaign send is; the greater rank stands, whatever the order of events. Equals `CAMPAIGN_SEND_STATUSES` in the
-- domain.
create function campaign_send_rank(p_status text) returns integer
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select array_position(
    array['queued', 'deferred', 'sent', 'delivery_delayed', 'delivered', 'opened', 'clicked', 'suppressed', 'failed',
      'bounced', 'complained'],
    p_status)
$$;

-- The same of prospects. Equals `PROSPECT_STATUSES`.
create function prospect_rank(p_status text) returns integer
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select array_position(array['active', 'bounced', 'unsubscribed', 'complained'], p_status)
$$;


-- Tables

create table prospects (
  id uuid primary key default gen_random_uuid(),
  -- Bare and lower-case.
  email text not null unique check (email = lower(email collate "C") and email <> ''),
  name text,
  status text not null default 'active' check (prospect_rank(status) is not null),
  last_contacted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create trigger prospects_address before insert or update of email on prospects
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

-- One row a campaign send; made before the mail goes out, or by its first event.
create table email_sends (
  id uuid primary key default gen_random_uuid(),
  prospect_id uuid references prospects (id) on delete set null,
  campaign text,
  subject text,
  -- Unique: one mail of a campaign goes to a prospect once.
  idempotency_key text unique,
  provider_message_id text unique,
  status text not null default 'queued' check (campaign_send_rank(status) is not null),
  error text,
  error_kind text,
  -- When the first attempt without a known end began.
  attempted_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  -- The first open and the first click.
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  open_count integer not null default 0,
  click_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index email_sends_prospect on email_sends (prospect_id);
create index email_sends_campaign on email_sends (campaign, created_at desc);
-- Deferred sends whose end is still to be noted (R3).
create index email_sends_deferred on email_sends (created_at) where status = 'deferred';

-- The events that count, each once; what `email_sends` shows of events is computed from these, and so does not depend on
-- their order.
create table email_send_events (
  provider_message_id text not null,
  -- The event and its moment; without one, and the bus's own id of it.
  identity text not null,
  event text not null,
  occurred_at timestamptz not null,
  primary key (provider_message_id, identity)
);

-- Addresses that get no outreach, whatever the campaign, and no other marketing (MAIL-65). Shown and lifted in the suppression list.
create table unsubscribes (
  email text primary key check (email = lower(email collate "C") and email <> ''),
  reason text not null default 'manual' check (reason in ('one_click', 'complaint', 'manual')),
  -- The campaign whose mail led to it.
  campaign text,
  created_at timestamptz not null default now()
);

create index unsubscribes_created on unsubscribes (created_at desc, email);

create trigger unsubscribes_address before insert or update of email on unsubscribes
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

-- The key of unsubscribe links: kept here and nowhere else, so that links in old mail outlive every change of settings.
create table unsubscribe_keys (
  id smallint primary key default 1 check (id = 1),
  key bytea not null check (octet_length(key) = 32),
  created_at timestamptz not null default now()
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into unsubscribe_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));


-- What sends and events share

-- Moves prospects forward to a status, in an order that all writers share; those that are not known yet are made.
create function mark_prospects(p_emails text[], p_status text) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into prospects as p (email, status)
  select distinct lower(x.email), p_status from unnest(p_emails) as x(email) where x.email <> '' order by 1
  on conflict (email) do update set status = excluded.status, updated_at = now()
  where prospect_rank(excluded.status) > prospect_rank(p.status)
$$;

-- The number of the transaction lock that orders the writers of one message.
create function campaign_message_lock(p_provider_message_id text) returns bigint
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select hashtextextended('postlane.campaign_message ' || p_provider_message_id, 0)
$$;

-- Folds a send's events into its row, on top of what the library recorded.
create function refresh_email_send(p_id uuid) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update email_sends s set
    status = case when campaign_send_rank(x.furthest) > campaign_send_rank(s.status) then x.furthest else s.status end,
    sent_at = least(s.sent_at, x.sent_at),
    delivered_at = x.delivered_at,
    opened_at = x.opened_at,
    clicked_at = x.clicked_at,
    bounced_at = x.bounced_at,
    complained_at = x.complained_at,
    open_count = x.open_count,
    click_count = x.click_count,
    updated_at = now()
  from (
    select
      (array_agg(e.event order by campaign_send_rank(e.event) desc))[1] as furthest,
      min(e.occurred_at) filter (where e.event = 'sent') as sent_at,
      min(e.occurred_at) filter (where e.event = 'delivered') as delivered_at,
      min(e.occurred_at) filter (where e.event = 'opened') as opened_at,
      min(e.occurred_at) filter (where e.event = 'clicked') as clicked_at,
      min(e.occurred_at) filter (where e.event = 'bounced') as bounced_at,
      min(e.occurred_at) filter (where e.event = 'complained') as complained_at,
      count(*) filter (where e.event = 'opened') as open_count,
      count(*) filter (where e.event = 'clicked') as click_count
    from email_send_events e
    where e.provider_message_id = (select i.provider_message_id from email_sends i where i.id = p_id)
  ) as x
  where s.id = p_id
$$;


-- A send: begin, finish, settle. Called by `CampaignBook`.

-- Decides whether an outreach mail may go out: `Begun` with the id of its row, `Unsubscribed`, or `Settled` with the row of
-- this key where the mail went out, or may have, longer ago than the library remembers its key. A send whose deferral
-- ended without a mail is begun again (R3). `mail_key`: the key under which the mail is sent.
--
-- Lock order: prospect, send; the reverse of the writers of events. Where the two meet, PostgreSQL ends one of them with a
-- deadlock, and the adapter repeats it.
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
    -- It was deferred, and the deferral ended without a mail (R3).
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

-- Records the library's result of an outreach send. A row that an early event made of the same message becomes part of it.
-- Lock order: message, send, prospect.
create function finish_outreach_send(
  p_id uuid, p_outcome text, p_provider_message_id text, p_error text, p_error_kind text
)
returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_provider_message_id is not null then
    perform pg_advisory_xact_lock(campaign_message_lock(p_provider_message_id));
    delete from email_sends s
    where s.provider_message_id = p_provider_message_id and s.id <> p_id and s.idempotency_key is null;
  end if;
  update email_sends s set
    status = case when campaign_send_rank(p_outcome) > campaign_send_rank(s.status) then p_outcome else s.status end,
    provider_message_id = coalesce(s.provider_message_id, p_provider_message_id),
    sent_at = case when p_outcome = 'sent' then coalesce(s.sent_at, now()) else s.sent_at end,
    error = p_error,
    error_kind = p_error_kind,
    updated_at = now()
  where s.id = p_id;
  perform refresh_email_send(p_id);
  if p_outcome in ('sent', 'deferred') then
    update prospects p set last_contacted_at = greatest(p.last_contacted_at, now()), updated_at = now()
    from email_sends s
    where s.id = p_id and p.id = s.prospect_id;
  end if;
end
$$;

-- Brings a deferred outreach send to the end that the log knows; true where it did. Locks the row.
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

-- Brings every deferred outreach send that has ended to its end; returns how many. The leader calls it.
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


-- Events and unsubscribing

-- Books one delivery event of a campaign send; false where it was booked before, which changes nothing. Called by
-- `CampaignBook`. The row is the one of the message id, else the one that the event's tag names, else a new one. Events
-- that say nothing about a campaign (a bounce that may pass, an unknown one) are left out. Each event marks prospects and
-- unsubscribes once, so that one that comes again does not undo what somebody corrected by hand.
--
-- Keys: provider_message_id, event, occurred_at, event_id, send_id, campaign, subject, recipients, affected (the recipients
-- that a bounce or complaint is about).
--
-- Lock order: message, send, prospects by address, unsubscribes by address.
create function record_campaign_event(p_event jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  e record;
  v_send uuid;
  v_prospect uuid;
  v_at timestamptz;
  v_recipients text[];
  v_affected text[];
begin
  select * into e from jsonb_to_record(p_event) as x(
    provider_message_id text, event text, occurred_at timestamptz, event_id text, send_id uuid, campaign text,
    subject text, recipients jsonb, affected jsonb);
  if coalesce(e.provider_message_id, '') = '' or e.event is null then
    raise exception 'a campaign event needs provider_message_id and event' using errcode = '22004';
  end if;
  if e.event not in ('sent', 'delivery_delayed', 'delivered', 'opened', 'clicked', 'failed', 'bounced', 'complained') then
    return false;
  end if;
  v_at := coalesce(e.occurred_at, clock_timestamp());
  v_recipients := email_addresses(e.recipients);
  v_affected := email_addresses(e.affected);

  perform pg_advisory_xact_lock(campaign_message_lock(e.provider_message_id));
  select s.id into v_send from email_sends s where s.provider_message_id = e.provider_message_id for update;
  if v_send is null and e.send_id is not null then
    update email_sends s set provider_message_id = e.provider_message_id
    where s.id = e.send_id and s.provider_message_id is null
    returning s.id into v_send;
  end if;

  insert into email_send_events (provider_message_id, identity, event, occurred_at)
  values (
    e.provider_message_id,
    e.event || '|' || coalesce(to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), e.event_id, ''),
    e.event,
    v_at)
  on conflict do nothing;
  if not found then
    return false;
  end if;

  if v_send is null then
    if email_distinct_count(v_recipients) = 1 then
      perform mark_prospects(v_recipients, 'active');
      select p.id into v_prospect from prospects p where p.email = lower(v_recipients[1]);
    end if;
    insert into email_sends (prospect_id, campaign, subject, provider_message_id)
    values (v_prospect, e.campaign, e.subject, e.provider_message_id)
    returning id into v_send;
  end if;
  perform refresh_email_send(v_send);

  case e.event
    when 'sent' then
      update prospects p set last_contacted_at = greatest(p.last_contacted_at, v_at), updated_at = now()
      from email_sends s
      where s.id = v_send and p.id = s.prospect_id and p.last_contacted_at is distinct from greatest(p.last_contacted_at, v_at);
    when 'bounced' then
      perform mark_prospects(v_affected, 'bounced');
    when 'complained' then
      perform mark_prospects(v_affected, 'complained');
      insert into unsubscribes (email, reason, campaign)
      select distinct lower(x.email), 'complaint', (select s.campaign from email_sends s where s.id = v_send)
      from unnest(v_affected) as x(email)
      where x.email <> ''
      order by 1
      on conflict (email) do nothing;
    else null;
  end case;
  return true;
end
$$;

-- Takes an address off all outreach; again, it changes nothing. Called by `Unsubscribes`.
create function record_unsubscribe(p_email text, p_campaign text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update prospects p set status = 'unsubscribed', updated_at = now()
  where p.email = p_email and prospect_rank(p.status) < prospect_rank('unsubscribed');
  insert into unsubscribes (email, reason, campaign) values (p_email, 'one_click', p_campaign)
  on conflict (email) do nothing;
end
$$;

-- Somebody wants mail again: returns whether an unsubscription, the one of an erased person included, was lifted. Called by
-- `SuppressionList`.
create function lift_unsubscribe(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_found boolean;
begin
  update prospects set status = 'active', updated_at = now()
  where email = p_email and status in ('unsubscribed', 'complained');
  v_found := found;
  delete from unsubscribes where email in (p_email, erased_alias(p_email));
  return v_found or found;
end
$$;

-- The part of `erase_person` that is about outreach and digests; returns whether anything was found. An address that wanted
-- no outreach gets none afterwards either, by a hash (P3).
create function erase_outreach_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_found boolean;
begin
  insert into unsubscribes (email, reason, created_at)
  select erased_alias(p_email), case p.status when 'complained' then 'complaint' else 'manual' end, p.updated_at
  from prospects p where p.email = p_email and p.status in ('unsubscribed', 'complained')
  on conflict do nothing;
  delete from prospects where email = p_email;
  v_found := found;
  insert into unsubscribes (email, reason, created_at)
  select erased_alias(p_email), u.reason, u.created_at from unsubscribes u where u.email = p_email
  on conflict (email) do update set reason = excluded.reason, created_at = excluded.created_at;
  delete from unsubscribes where email = p_email;
  v_found := v_found or found;
  delete from audit_digest_subscriptions where lower(email) = p_email;
  return v_found or found;
end
$$;

select secure_table(name) from unnest(array[
  'prospects', 'email_sends', 'email_send_events', 'unsubscribes', 'unsubscribe_keys'
]::regclass[]) as name;

select secure_function(name) from unnest(array[
  'campaign_send_rank(text)',
  'prospect_rank(text)',
  'mark_prospects(text[], text)',
  'campaign_message_lock(text)',
  'refresh_email_send(uuid)',
  'begin_outreach_send(text, text, text, text, text)',
  'finish_outreach_send(uuid, text, text, text, text)',
  'settle_outreach_send(uuid)',
  'settle_outreach_sends()',
  'record_campaign_event(jsonb)',
  'record_unsubscribe(text, text)',
  'lift_unsubscribe(text)',
  'erase_outreach_person(text)'
]::regprocedure[]) as name;
