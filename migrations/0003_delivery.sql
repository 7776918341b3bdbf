-- Delivery: events of the providers, alerts about them, the poll, alarms, and the audit digest.
-- Rules: docs/reference/specification/delivery.md.


-- Tables

-- When a webhook last brought an event of a provider, to the minute (EVENT-40). The log's own rows do not show it:
-- the poll writes events, too, and would hide that the webhook is dead.
create table event_intakes (
  provider text primary key,
  heard_at timestamptz not null
);

-- One row for each alert that was claimed (EVENT-20, EVENT-23). `email_log.alerted_at` says that the alert is claimed; a row
-- of the log that has it and none here kept its claim as a backfill and counts as settled.
create table email_alerts (
  -- `email_log.id`.
  send_id uuid primary key,
  -- When the alert is raised again unless it is confirmed before: the end of a claim's lease, or of the wait after a
  -- release. Null once it is confirmed.
  due_at timestamptz,
  -- How often it was claimed.
  attempts integer not null default 1,
  claimed_at timestamptz not null default now(),
  confirmed_at timestamptz,
  -- What the alert says (the body of `POST /internal/email-alert` without `sendId`, EVENT-25); empty once it is confirmed,
  -- so that no address stays here.
  details jsonb not null,
  constraint email_alerts_confirmed check ((due_at is null) = (confirmed_at is not null))
);

create index email_alerts_due on email_alerts (due_at) where due_at is not null;

-- The events of a mail as they came (EVENT-15), numbered in the order of their arrival. Written and deleted with the row, in
-- whose lock they are: no foreign key has to check it.
create table email_events (
  -- `email_log.id`.
  send_id uuid not null,
  number integer not null,
  event text not null,
  -- When it arrived, where the event has no time.
  occurred_at timestamptz not null,
  -- The poll found it in the provider's list.
  listed boolean not null,
  -- Null also where it is too large, or its recipient was erased.
  raw jsonb,
  raw_bytes integer not null,
  primary key (send_id, number)
);

-- Which alerts admins want, and where (EVENT-21); a row that is missing counts as on.
create table admin_notification_preferences (
  alert_type text not null check (alert_type <> ''),
  channel text not null check (channel in ('email', 'chat')),
  enabled boolean not null default true,
  updated_at timestamptz not null default now(),
  primary key (alert_type, channel)
);

insert into admin_notification_preferences (alert_type, channel)
values ('email_delivery_failure', 'email'), ('email_delivery_failure', 'chat');

-- How far the poll of provider_a's list has come (EVENT-30): what it read last, and what one run had no pages left for.
create table event_poll_positions (
  provider text primary key,
  newest_id text,
  newest_at timestamptz,
  -- Mails older than `gap_after`, down to `gap_until`, are not read yet. No `gap_until`: down to the end of the list.
  gap_after text,
  gap_until_id text,
  gap_until_at timestamptz,
  -- Rises with every change: of two runs at once, the one that saves second changes nothing.
  version bigint not null,
  updated_at timestamptz not null default now()
);

-- Alarms of outbound mail (EVENT-40).
create table email_alarms (
  name text primary key,
  firing boolean not null,
  -- Counts how often it began.
  episode integer not null,
  -- Since when it has been calm, while it fires.
  calm_since timestamptz,
  -- When it last began or ended, and the figures of that moment.
  since timestamptz not null,
  detail text not null
);

-- How far the clocks of processes are off this database's, noted each minute by those that are off by more than a minute.
create table clock_differences (
  process text primary key,
  -- The process's clock minus the database's.
  difference_ms float8 not null,
  noted_at timestamptz not null
);

-- One row that every readiness check of a process writes.
create table readiness_checks (
  process text primary key,
  written_at timestamptz not null
);

-- The notices of an alarm, one for each beginning and each end (EVENT-41).
create table email_alarm_notices (
  alarm text not null,
  episode integer not null,
  kind text not null check (kind in ('begun', 'ended')),
  detail text not null,
  created_at timestamptz not null default now(),
  -- When it may be claimed; null once it went out.
  due_at timestamptz default now(),
  attempts integer not null default 0,
  sent_at timestamptz,
  primary key (alarm, episode, kind),
  constraint email_alarm_notices_sent check ((due_at is null) = (sent_at is not null))
);

create index email_alarm_notices_due on email_alarm_notices (due_at) where due_at is not null;

-- Subscribers of the audit digest (EVENT-50).
create table audit_digest_subscriptions (
  id uuid primary key default gen_random_uuid(),
  email text not null check (email <> ''),
  cadence text not null default 'daily' check (cadence in ('daily', 'weekly')),
  -- Null: the digest of the whole service, for admins. Else what concerns this customer and mail to this address, no more.
  customer_id uuid,
  active boolean not null default true,
  created_at timestamptz not null default now()
);

create index audit_digest_subscriptions_due on audit_digest_subscriptions (cadence, id) where active;

-- One row a subscription and period: the claim that keeps a digest from going out twice.
create table audit_digest_deliveries (
  subscription_id uuid not null references audit_digest_subscriptions (id) on delete cascade,
  cadence text not null check (cadence in ('daily', 'weekly')),
  period_start timestamptz not null,
  state text not null check (state in ('claimed', 'sent', 'suppressed', 'failed')),
  -- The run that works on it, or did last.
  owner text not null,
  lease_until timestamptz not null,
  claimed_at timestamptz not null,
  attempts integer not null default 1,
  -- The first attempt whose end is unknown; null where every one has ended without a mail.
  uncertain_since timestamptz,
  -- The mail, byte for byte, as long as an attempt at it may have been accepted: the relay knows its key by this payload.
  request jsonb,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (subscription_id, cadence, period_start)
);


-- An event comes in

-- Notes that a webhook brought an event. Locks nothing where that was noted in the last minute. Called by `DeliveryLog`.
create function note_event_intake(p_provider text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from event_intakes i where i.provider = p_provider and i.heard_at > clock_timestamp() - interval '1 minute'
  ) then
    insert into event_intakes as i (provider, heard_at) values (p_provider, clock_timestamp())
    on conflict (provider) do update set heard_at = excluded.heard_at where i.heard_at < excluded.heard_at;
  end if;
end
$$;

-- How long a claimed alert is leased. Longer than the alert's own time limit (`ALERT_TIME_LIMIT`, two minutes).
create function email_alert_lease() returns interval
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return interval '3 minutes';
end
$$;

-- Keeps events of rows that their caller has locked: the first 50 of a mail and the last 50, so that a link that is clicked a
-- million times costs no more. One that comes again is kept once: the same event of the same time with the same body, and of the
-- list, which has no times, the same event. `number` counts the events of a mail from 1: a statement takes one of each.
create function keep_email_events(p_events email_events[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_turn integer := 0;
  v_long uuid[];
begin
  loop
    v_turn := v_turn + 1;
    with kept as (
      insert into email_events (send_id, number, event, occurred_at, listed, raw, raw_bytes)
      select e.send_id, k.last + 1, e.event, coalesce(e.occurred_at, clock_timestamp()), e.listed,
        case when e.raw_bytes <= 32768 then e.raw end, e.raw_bytes
      from unnest(p_events) as e
      cross join lateral (
        select coalesce(max(x.number), 0) as last,
          bool_or(
            x.event = e.event and x.listed = e.listed
              and (e.listed or (e.occurred_at is null or x.occurred_at = e.occurred_at) and (x.raw is null or x.raw = e.raw))
          ) as known
        from email_events x
        where x.send_id = e.send_id
      ) as k
      where e.number = v_turn and k.known is not true
      returning send_id, number
    )
    select array_agg(k.send_id) filter (where k.number > 100) into v_long from kept k;
    if v_long is not null then
      delete from email_events x
      where x.send_id = any (v_long) and x.number > 50
        and x.number <= (select max(y.number) from email_events y where y.send_id = x.send_id) - 50;
    end if;
    exit when not exists (select from unnest(p_events) as e where e.number > v_turn);
  end loop;
end
$$;

-- The addresses, those of people who were erased from the row as it has them.
create function erased_names(p_addresses text[], p_row email_log) returns text[]
language sql
immutable
set search_path = pg_catalog, public, pg_temp
as $$
  select case when p_addresses is not null then array(
    select case when erased_alias(x.address) = any (p_row.to_addresses || p_row.other_addresses || p_row.dropped_addresses)
      then erased_alias(x.address) else x.address end
    from unnest(p_addresses) with ordinality as x(address, place)
    order by x.place
  ) end
$$;

-- Folds delivery events into the send log, several in one call (EVENT-10 to EVENT-14); `ordinal` counts the events from 1.
-- Called by `DeliveryLog`, for webhooks and the poll. Keys of an event are the parameters of `record_email_event` without
-- `p_`, `category` (from the event's tags) and `listed` (the event is what the provider's list says of the mail, seen at
-- `occurred_at`). For each event:
--
-- * The row is the one of (provider, provider_message_id). Where there is none and the event's tag names a use of a key, the newest
--   `deferred` row of that use gets provider and message id and moves to `sent` or further, unless an attempt on the
--   key is under way right now: then the event may be that attempt's, which will find it. Else the event makes a row. A tag of
--   another installation matches no row and no claim: mail from outside, without a key.
-- * Status only moves forward, never out of a terminal one (L2). `error` is the reason of the failure that moved it, also
--   where that event gave none (the list never does) and a later account of it brings the reason. A `bounce_transient` moves
--   nothing, and is the end of the mail: its reason is the error of a row that was not delivered. Of one that was, it is an
--   automatic reply, unless somebody else of several recipients did not get it (EVENT-16).
-- * `last_event` and `raw` are of the latest event by occurrence; without a time it counts from now, and not at all
--   where it is the last one already. Of two at the same time the one with the greater name wins. Of an event that came
--   both by webhook and in the list, the webhook's account stands: it has the moment and the reason.
-- * `alert` says that this call claimed the row's one alert (A1): the first provider-reported failure, unless `alertable`
--   is false. What the alert is about stays in `email_alerts` until it is confirmed, with the row's category and source,
--   which are returned too; where the library did not write the row, the category is the event's. With `backfill`, an
--   event that makes its row keeps that claim without an alert (EVENT-32).
-- * A permanent bounce and a complaint suppress the addresses in `suppress` where it is given, else the mail's recipient
--   where it has exactly one: the row's where the library wrote it, and of a deferral, which does not say which of its
--   attempts was accepted, each attempt's. An event that names a key is about the library's mail,
--   and waits for the row, since the event alone may not know of Cc and Bcc; of mail that was sent outside the library the
--   event's `recipients` are all that will ever be known. Each event does so once, so that one that comes again does not
--   bring back a suppression that was lifted (P1).
-- * An event that comes again changes nothing (L3). Each other one is kept as it came (`keep_email_events`).
--
-- A row is locked, or made, at its mail's place in the order; what changes of rows that were there, and the events, are written at
-- the end, each in one statement: its set-up costs more than a row.
--
-- Lock order: keys, rows by (provider, provider_message_id), suppressions.
create function record_email_events(p_events jsonb)
returns table (
  ordinal integer, send_id uuid, status text, alert boolean, backfilled boolean, category text, source text
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  e record;
  r email_log;
  v_lock bigint;
  -- `r` is the row of this event's mail already.
  v_same boolean;
  -- `r` has changes that are to be written at the end.
  v_unwritten boolean := false;
  v_rows email_log[] := '{}';
  v_events email_events[] := '{}';
  v_number integer := 0;
  v_new boolean;
  v_changed boolean;
  v_busy boolean;
  v_key text;
  v_rank integer;
  v_at timestamptz;
  v_received email_account;
  v_listed email_account;
  v_known email_account;
  v_marks text[];
  v_suppress text[] := '{}';
  v_single boolean;
begin
  -- Before any other lock, as there: an erasure neither misses the row of an event nor parts it from its suppression.
  perform pg_advisory_xact_lock_shared(email_key_lock('erase_person'));
  if p_events @? '$[*].key_tag ? (@ != null)' then
    for v_lock in
      select distinct email_key_lock(x.key_tag)
      from jsonb_to_recordset(p_events) as x(provider text, provider_message_id text, key_tag text)
      where x.key_tag is not null
        -- A row that the library wrote, or an event that named its key, is evidence already.
        and not exists (
          select from email_log l
          where l.provider = x.provider and l.provider_message_id = x.provider_message_id
            and (l.outcome is not null or l.key_tag is not null))
      order by 1
    loop
      perform pg_advisory_xact_lock(v_lock);
    end loop;
  end if;

  for e in
    select
      x.ord,
      x.provider,
      x.provider_message_id,
      x.event,
      x.occurred_at,
      email_addresses(x.recipients) as recipients,
      x.subject,
      email_bare_address(x."from") as from_address,
      x.reason,
      x.raw,
      x.key_tag,
      case
        when x.event = 'bounced' and lower(x.bounce_type) = 'permanent' then 'hard_bounce'
        when x.event = 'complained' then 'complaint'
      end as suppression,
      case when jsonb_typeof(x.suppress) = 'array' then email_addresses(x.suppress) end as suppress,
      coalesce(x.alertable, true) as alertable,
      coalesce(x.backfill, false) as backfill,
      x.category,
      coalesce(x.listed, false) as listed
    from rows from (jsonb_to_recordset(p_events) as (
      provider text, provider_message_id text, event text, occurred_at timestamptz, recipients jsonb, subject text,
      "from" text, reason text, raw jsonb, key_tag text, bounce_type text, suppress jsonb, alertable boolean,
      backfill boolean, category text, listed boolean
    )) with ordinality as x(
      provider, provider_message_id, event, occurred_at, recipients, subject,
      "from", reason, raw, key_tag, bounce_type, suppress, alertable,
      backfill, category, listed, ord
    )
    order by x.provider collate "C", x.provider_message_id collate "C", x.ord
  loop
    if e.provider is null or coalesce(e.provider_message_id, '') = '' or e.event is null then
      raise exception 'a delivery event needs provider, provider_message_id and event' using errcode = '22004';
    end if;
    v_rank := case when e.event <> 'deferred' then email_status_rank(e.event) end;
    v_same := coalesce(r.provider = e.provider and r.provider_message_id = e.provider_message_id, false);
    if v_unwritten and not v_same then
      v_rows := v_rows || r;
      v_unwritten := false;
    end if;
    v_number := case when v_same then v_number + 1 else 1 end;

    loop
      v_new := false;
      if not v_same then
        select * into r from email_log l
        where l.provider = e.provider and l.provider_message_id = e.provider_message_id
        for update;
        v_new := not found;
      end if;

      v_key := null;
      if v_new and e.key_tag is not null then
        -- The key that the tag names. Of another installation's, neither a claim nor a row of the library knows anything.
        select c.key_hash into v_key from email_send_claims c where c.tag = e.key_tag limit 1;
        if v_key is null then
          select l.key_hash into v_key from email_log l
          where l.key_tag = e.key_tag and l.outcome is distinct from 'sent' and l.key_hash is not null
          limit 1;
        end if;
        select coalesce(c.lease_until > clock_timestamp(), false) into v_busy
        from email_send_claims c where c.key_hash = v_key;
        if not coalesce(v_busy, false) then
          select * into r from email_log l
          where l.key_tag = e.key_tag and l.outcome is distinct from 'sent' and l.status = 'deferred'
            and l.provider_message_id is null
          order by l.created_at desc, l.id desc
          limit 1
          for update;
          if found then
            begin
              update email_log l set
                provider = e.provider, provider_message_id = e.provider_message_id, status = 'sent',
                cost_usd = coalesce(l.cost_usd, l.accepted_cost_usd), updated_at = now()
              where l.id = r.id
              returning * into r;
            exception
              when unique_violation then continue; -- Its own attempt wrote the message id meanwhile.
            end;
            v_new := false;
          end if;
        end if;
      end if;

      -- What comes later about an erased person's mail does not bring the person back (P3).
      if array_to_string(r.to_addresses || r.other_addresses || r.dropped_addresses, ',') like '%erased:%' then
        e.raw := null;
        e.reason := error_without_person(e.reason);
        e.subject := null;
        e.recipients := erased_names(e.recipients, r);
        e.suppress := erased_names(e.suppress, r);
      end if;

      v_changed := false;
      alert := false;
      backfilled := false;
      if v_new then
        r := null;
        r.id := gen_random_uuid();
        r.provider := e.provider;
        r.provider_message_id := e.provider_message_id;
        r.status := 'sent';
        r.to_addresses := '{}';
        r.suppression_marks := '{}';
        r.key_hash := v_key;
        if e.backfill then
          r.alerted_at := now();
          backfilled := true;
        end if;
      end if;

      if r.outcome is null then
        if r.from_address is null and e.from_address is not null then
          r.from_address := e.from_address;
          v_changed := true;
        end if;
        if r.subject is null and e.subject is not null then
          r.subject := e.subject;
          v_changed := true;
        end if;
        if r.to_addresses = '{}' and e.recipients <> '{}' then
          r.to_addresses := e.recipients;
          v_changed := true;
        end if;
        if r.key_tag is null and e.key_tag is not null then
          r.key_tag := e.key_tag;
          v_changed := true;
        end if;
      end if;

      -- Only the library's row knows all recipients; one that events made keeps the error until then.
      v_single := coalesce(r.outcome is not null and r.recipient_count < 2, false);
      if v_rank > email_status_rank(r.status) then
        r.status := e.event;
        v_changed := true;
        if v_rank = 100 then
          r.error := e.reason;
        elsif v_rank >= email_status_rank('delivered') and v_single then
          r.error := null;
        end if;
      elsif v_rank = 100 and r.status = e.event and r.error is null and e.reason is not null then
        r.error := e.reason;
        v_changed := true;
      elsif e.event = 'bounce_transient' and r.error is null
        and email_status_rank(r.status) < (case when v_single then email_status_rank('delivered') else 100 end)
      then
        r.error := coalesce(e.reason, 'not delivered');
        v_changed := true;
      end if;

      v_listed := jsonb_populate_record(null::email_account, r.accounts -> 'listed');
      if r.accounts is null then
        v_received := row(r.last_event, r.last_event_at, r.raw);
      else
        v_received := jsonb_populate_record(null::email_account, nullif(r.accounts -> 'received', 'null'));
      end if;
      if e.listed then
        v_known := v_listed;
      else
        v_known := v_received;
      end if;
      v_at := e.occurred_at;
      if v_at is null and v_known.event is distinct from e.event then
        v_at := clock_timestamp();
      end if;
      if v_at is not null and (
        v_known.event is null or (v_at, e.event collate "C") > (v_known.moment, v_known.event collate "C")
      ) then
        v_known := row(e.event, v_at, e.raw);
        if e.listed then
          v_listed := v_known;
        else
          v_received := v_known;
        end if;
        v_known := v_received;
        if v_listed.event is not null then
          r.accounts := jsonb_build_object(
            'received', case when v_received.event is not null then to_jsonb(v_received) end, 'listed', to_jsonb(v_listed));
          if v_received.event is null or v_received.event <> v_listed.event
            and (v_listed.moment, v_listed.event collate "C") > (v_received.moment, v_received.event collate "C")
          then
            v_known := v_listed;
          end if;
        end if;
        r.last_event := v_known.event;
        r.last_event_at := v_known.moment;
        r.raw := v_known.raw;
        v_changed := true;
      end if;

      if v_rank = 100 and e.alertable and r.alerted_at is null then
        r.alerted_at := now();
        alert := true;
        v_changed := true;
      end if;

      v_marks := '{}';
      if e.suppression is not null then
        v_marks := case
          when e.suppress is not null then e.suppress
          when r.outcome is not null then
            case
              when r.recipient_count = 1 and (r.outcome <> 'deferred' or not exists (
                select from email_log l where l.key_hash = r.key_hash and l.recipient_count > 1
              )) then (r.to_addresses || r.other_addresses)[1:1]
              else '{}'
            end
          when e.key_tag is not null or e.recipients = '{}' then array['']
          when email_distinct_count(e.recipients) = 1 then e.recipients[1:1]
          else '{}'
        end;
        v_marks := array(
          select distinct e.suppression || ':' || x.address from unnest(v_marks) as x(address)
          where e.suppression || ':' || x.address <> all (r.suppression_marks)
        );
        if v_marks <> '{}' then
          r.suppression_marks := r.suppression_marks || v_marks;
          v_changed := true;
        end if;
      end if;

      if v_new then
        insert into email_log (
          id, from_address, to_addresses, subject, status, provider, provider_message_id, last_event, last_event_at, raw,
          error, key_hash, key_tag, alerted_at, suppression_marks, accounts
        ) values (
          r.id, r.from_address, r.to_addresses, r.subject, r.status, r.provider, r.provider_message_id, r.last_event,
          r.last_event_at, r.raw, r.error, r.key_hash, r.key_tag, r.alerted_at, r.suppression_marks, r.accounts
        )
        on conflict (provider, provider_message_id) do nothing;
        exit when found;
      else
        v_unwritten := v_unwritten or v_changed;
        exit;
      end if;
    end loop;
    v_events := v_events || row(
      r.id, v_number, e.event, e.occurred_at, e.listed, e.raw, coalesce(pg_column_size(e.raw), 0)
    )::email_events;

    category := coalesce(nullif(r.category, 'unknown'), e.category);
    source := r.source;
    if alert then
      insert into email_alerts (send_id, due_at, details) values (
        r.id,
        clock_timestamp() + email_alert_lease(),
        jsonb_build_object(
          'provider', e.provider,
          'providerMessageId', e.provider_message_id,
          'event', e.event,
          'recipients', to_jsonb(coalesce(e.suppress, e.recipients)),
          'subject', e.subject,
          'category', category,
          'source', source,
          'reason', e.reason,
          'occurredAt', to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )
      )
      on conflict (send_id) do update set
        due_at = excluded.due_at, details = excluded.details, attempts = email_alerts.attempts + 1;
    end if;

    v_suppress := v_suppress || array(select x.mark from unnest(v_marks) as x(mark) where x.mark not like '%:');
    ordinal := e.ord;
    send_id := r.id;
    status := r.status;
    return next;
  end loop;

  if v_unwritten then
    v_rows := v_rows || r;
  end if;
  if v_rows <> '{}' then
    update email_log l set
      from_address = x.from_address,
      to_addresses = x.to_addresses,
      subject = x.subject,
      status = x.status,
      last_event = x.last_event,
      last_event_at = x.last_event_at,
      raw = x.raw,
      error = x.error,
      key_tag = x.key_tag,
      alerted_at = x.alerted_at,
      suppression_marks = x.suppression_marks,
      accounts = x.accounts,
      updated_at = now()
    from unnest(v_rows) as x
    where l.id = x.id;
  end if;
  if v_events <> '{}' then
    perform keep_email_events(v_events);
  end if;
  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'delivery event');
  end if;
end
$$;

-- Folds one delivery event into the send log: `record_email_events` for one event. For callers in SQL.
create function record_email_event(
  p_provider text,
  p_provider_message_id text,
  p_event text,
  p_occurred_at timestamptz default null,
  p_recipients text[] default null,
  p_subject text default null,
  p_from text default null,
  p_reason text default null,
  p_raw jsonb default null,
  p_key_tag text default null,
  p_bounce_type text default null,
  p_suppress text[] default null,
  p_alertable boolean default true,
  p_backfill boolean default false
)
returns table (send_id uuid, status text, alert boolean)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.send_id, x.status, x.alert
  from record_email_events(jsonb_build_array(jsonb_build_object(
    'provider', p_provider,
    'provider_message_id', p_provider_message_id,
    'event', p_event,
    'occurred_at', p_occurred_at,
    'recipients', to_jsonb(p_recipients),
    'subject', p_subject,
    'from', p_from,
    'reason', p_reason,
    'raw', p_raw,
    'key_tag', p_key_tag,
    'bounce_type', p_bounce_type,
    'suppress', to_jsonb(p_suppress),
    'alertable', p_alertable,
    'backfill', p_backfill
  ))) as x
$$;


-- An alert is claimed, raised, and confirmed or released (EVENT-20 to EVENT-23, A1). All called by `DeliveryLog`. Release
-- and confirm lock the row of the log first, as the writers of events do.

-- Releases the claim of an alert that did not go out, so that the next event alerts; false where there is none, or where
-- the alert went out after all. Without such an event it is due again by itself after a minute, then after twice the time
-- with every claim, up to an hour.
create function release_email_alert(p_send_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from email_log l where l.id = p_send_id for update;
  update email_log l set alerted_at = null, updated_at = now()
  where l.id = p_send_id and l.alerted_at is not null
    and not exists (select from email_alerts a where a.send_id = p_send_id and a.confirmed_at is not null);
  if not found then
    return false;
  end if;
  update email_alerts a set
    due_at = clock_timestamp() + least(interval '1 minute' * 2 ^ least(a.attempts - 1, 10), interval '1 hour')
  where a.send_id = p_send_id;
  return true;
end
$$;

-- Notes that the alert went out, or is not wanted: nothing raises it again. Holds also where its claim was released
-- meanwhile. False where it was confirmed already, or there is no such row.
create function confirm_email_alert(p_send_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
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

-- Claims alerts that are due: claimed by a process that neither confirmed nor released them in time, or released and not
-- claimed since. Of several callers at once each alert goes to one. The leader's sweep calls it.
create function claim_due_email_alerts(p_limit integer default 1) returns table (send_id uuid, details jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
begin
  -- An alert about a mail whose row is gone is dropped.
  delete from email_alerts a where a.due_at <= v_now and not exists (select from email_log l where l.id = a.send_id);
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


-- The alarms. Both called by `AlarmBoard`, on the leader.

-- Moves an alarm from the state that its caller read to the next and keeps the notice, if there is one to keep. False, and
-- nothing is written, where another caller moved it first. Times are milliseconds of the epoch.
create function change_email_alarm(
  p_name text,
  p_was_firing boolean,
  p_was_episode integer,
  p_was_calm_since float8,
  p_firing boolean,
  p_episode integer,
  p_calm_since float8,
  p_notice text,
  p_detail text
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into email_alarms (name, firing, episode, since, detail) values (p_name, false, 0, now(), '')
  on conflict (name) do nothing;
  update email_alarms a set
    firing = p_firing,
    episode = p_episode,
    calm_since = to_timestamp(p_calm_since / 1000),
    since = case when p_notice is null then a.since else clock_timestamp() end,
    detail = case when p_notice is null then a.detail else p_detail end
  where a.name = p_name
    and a.firing = p_was_firing
    and a.episode = p_was_episode
    and a.calm_since is not distinct from to_timestamp(p_was_calm_since / 1000);
  if not found then
    return false;
  end if;
  if p_notice is not null then
    insert into email_alarm_notices (alarm, episode, kind, detail) values (p_name, p_episode, p_notice, p_detail);
  end if;
  return true;
end
$$;

-- Claims the notice that has been due for longest, for longer than sending one may take. The end of an episode waits until
-- the notice of its beginning went out.
create function claim_email_alarm_notice()
returns table (alarm text, episode integer, kind text, detail text, at float8)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
    select x.alarm, x.episode, x.kind from email_alarm_notices x
    where x.due_at <= clock_timestamp() and (
      x.kind = 'begun'
      or exists (
        select from email_alarm_notices b
        where b.alarm = x.alarm and b.episode = x.episode and b.kind = 'begun' and b.sent_at is not null)
    )
    order by x.due_at, x.created_at, x.kind
    limit 1
    for update skip locked
  )
  update email_alarm_notices n set due_at = clock_timestamp() + interval '3 minutes', attempts = n.attempts + 1
  from due
  where n.alarm = due.alarm and n.episode = due.episode and n.kind = due.kind
  returning n.alarm, n.episode, n.kind, n.detail, extract(epoch from n.created_at)::float8 * 1000
$$;


-- The audit digest. Claimed and settled by `AuditDigestStore`.

-- Claims the digest of one subscription and period for `p_owner`, with the mail that it is to send:
--
-- * `Claimed`: send `request`, which is an earlier attempt's where that one may have been accepted.
-- * `Settled`: it was sent or suppressed, or the subscription is gone.
-- * `Busy`: another run works on it, and its lease holds.
-- * `Waiting`: with `p_patient`, it failed lately; the wait doubles from two minutes up to six hours.
-- * `Unknown`: an attempt has no known end and is older than the 24 hours for which the relay remembers its key: sending
--   again could send twice (with `p_patient` it waits for a run by hand).
--
-- Lock order: subscription (for key share), delivery.
create function claim_audit_digest(
  p_subscription_id uuid,
  p_cadence text,
  p_period_start timestamptz,
  p_owner text,
  p_lease_ms integer,
  p_patient boolean,
  p_request jsonb
)
returns table (decision text, request jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  r audit_digest_deliveries;
  v_now timestamptz;
  v_lease interval := p_lease_ms * interval '1 millisecond';
begin
  insert into audit_digest_deliveries as d
    (subscription_id, cadence, period_start, state, owner, lease_until, claimed_at, request)
  select s.id, p_cadence, p_period_start, 'claimed', p_owner, clock_timestamp() + v_lease, clock_timestamp(), p_request
  from audit_digest_subscriptions s
  where s.id = p_subscription_id
  for key share
  on conflict do nothing;
  if found then
    return query select 'Claimed', p_request;
    return;
  end if;

  select * into r from audit_digest_deliveries d
  where d.subscription_id = p_subscription_id and d.cadence = p_cadence and d.period_start = p_period_start
  for update;
  if not found then
    return query select 'Settled', null::jsonb;
    return;
  end if;

  v_now := clock_timestamp();
  request := null;
  if r.state in ('sent', 'suppressed') then
    decision := 'Settled';
  elsif r.state = 'claimed' and r.lease_until > v_now then
    decision := 'Busy';
  else
    if r.state = 'claimed' then
      r.uncertain_since := coalesce(r.uncertain_since, r.claimed_at);
    end if;
    if r.uncertain_since <= v_now - interval '24 hours' then
      decision := case when p_patient then 'Waiting' else 'Unknown' end;
    elsif p_patient and r.state = 'failed'
      and r.updated_at > v_now - least(power(2, least(r.attempts, 10)) * interval '1 minute', interval '6 hours') then
      decision := 'Waiting';
    else
      decision := 'Claimed';
      update audit_digest_deliveries d set
        state = 'claimed',
        owner = p_owner,
        lease_until = v_now + v_lease,
        claimed_at = v_now,
        attempts = d.attempts + 1,
        uncertain_since = r.uncertain_since,
        request = coalesce(d.request, p_request),
        updated_at = v_now
      where d.subscription_id = r.subscription_id and d.cadence = r.cadence and d.period_start = r.period_start
      returning d.request into request;
    end if;
  end if;
  return next;
end
$$;

-- Ends what `p_owner` holds; false where it no longer holds it. `p_certain`: this attempt certainly sent nothing.
create function settle_audit_digest(
  p_subscription_id uuid,
  p_cadence text,
  p_period_start timestamptz,
  p_owner text,
  p_state text,
  p_certain boolean,
  p_error text
)
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update audit_digest_deliveries d set
    state = p_state,
    uncertain_since = case
      when p_state <> 'failed' then null
      when p_certain then d.uncertain_since
      else coalesce(d.uncertain_since, d.claimed_at)
    end,
    request = case
      when p_state = 'failed' and not (p_certain and d.uncertain_since is null) then d.request
    end,
    error = p_error,
    updated_at = clock_timestamp()
  where d.subscription_id = p_subscription_id and d.cadence = p_cadence and d.period_start = p_period_start
    and d.owner = p_owner and d.state = 'claimed';
  return found;
end
$$;


-- Schedules of a hosted platform, where pg_cron, pg_net and a vault are available (EVENT-30, EVENT-50). Elsewhere the leader
-- of the Node processes polls and sends the digests. Run at the end of this file, and by hand once the extensions are there.

-- Requests a function, without waiting for its answer: pg_net posts to `{functions_url}/{p_path}`. The address and the proxy
-- secret are read from the vault at every call, under the names `functions_url` and `proxy_shared_secret` (the functions'
-- PROXY_SHARED_SECRET); the address may stand in the setting `postlane.functions_url` instead. Without them the call fails,
-- which `cron.job_run_details` shows.
create function request_function(p_path text, p_timeout_ms integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_url text;
  v_secret text;
begin
  select s.decrypted_secret into v_url from vault.decrypted_secrets s where s.name = 'functions_url';
  v_url := coalesce(v_url, current_setting('postlane.functions_url', true));
  select s.decrypted_secret into v_secret from vault.decrypted_secrets s where s.name = 'proxy_shared_secret';
  if coalesce(v_url, '') = '' or coalesce(v_secret, '') = '' then
    raise exception 'the vault holds no functions_url or no proxy_shared_secret: % cannot be requested', p_path
      using errcode = '55000';
  end if;
  perform net.http_post(
    url := rtrim(v_url, '/') || '/' || p_path,
    body := '{}'::jsonb,
    headers := jsonb_build_object('content-type', 'application/json', 'x-proxy-secret', v_secret),
    timeout_milliseconds := p_timeout_ms
  );
end
$$;

-- Schedules the poll every 15 minutes and the digests; true where it did. pg_cron's days begin at UTC; a name that is
-- scheduled again replaces its job.
create function schedule_functions() returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if to_regprocedure('cron.schedule(text,text,text)') is null
    or to_regclass('vault.decrypted_secrets') is null
    or to_regnamespace('net') is null
    or not exists (
      select from pg_proc p where p.pronamespace = to_regnamespace('net') and p.proname = 'http_post')
  then
    return false;
  end if;
  perform cron.schedule(x.name, x.schedule, format('select public.request_function(%L, %s)', x.path, x.timeout_ms))
  from (values
    ('provider-a-events-poll', '*/15 * * * *', 'provider-a-events-fetcher', 120000),
    ('audit-digest-daily', '0 14 * * *', 'audit-digest?cadence=daily', 60000),
    ('audit-digest-weekly', '0 14 * * 1', 'audit-digest?cadence=weekly', 60000)
  ) as x (name, schedule, path, timeout_ms);
  return true;
end
$$;

do $$
begin
  perform schedule_functions();
exception
  when insufficient_privilege then
    raise notice 'poll and digests could not be scheduled: run select schedule_functions() as a role that may';
end
$$;

-- Statistics by day, and how long the log is kept

-- What `email_log` counts, by day (UTC) that is over (EVENT-65): so that a year is read in milliseconds however many rows it
-- has. Where the day is among `email_stats_closed`; other days are counted from the log.
create table email_stats_days (
  day date not null,
  category text not null,
  provider text,
  status text not null,
  count bigint not null,
  failed_over bigint not null,
  undelivered bigint not null,
  cost_usd numeric not null,
  unique nulls not distinct (day, category, provider, status)
);

create table email_stats_closed (day date primary key);

-- What has changed since of days that are over, such as a bounce that came late: added to the day by its readers, and
-- folded into it by the leader. Rows are only ever added and taken out, so that no two events wait for each other here.
create table email_stats_changes (
  day date not null,
  category text not null,
  provider text,
  status text not null,
  count integer not null,
  failed_over integer not null,
  undelivered integer not null,
  cost_usd numeric not null
);

-- The beginning of this day, UTC.
create function this_midnight() returns timestamptz
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select date_trunc('day', now(), 'UTC')
$$;

create function email_log_counted() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' and (
    old.created_at, old.category, old.provider, old.status, old.failed_over, old.cost_usd,
    email_is_undelivered(old.status, old.error)
  ) is not distinct from (
    new.created_at, new.category, new.provider, new.status, new.failed_over, new.cost_usd,
    email_is_undelivered(new.status, new.error)
  ) then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.created_at < this_midnight() then
    insert into email_stats_changes (day, category, provider, status, count, failed_over, undelivered, cost_usd)
    values ((old.created_at at time zone 'UTC')::date, old.category, old.provider, old.status, -1, -old.failed_over::integer,
      -email_is_undelivered(old.status, old.error)::integer, -coalesce(old.cost_usd, 0));
  end if;
  if tg_op <> 'DELETE' and new.created_at < this_midnight() then
    insert into email_stats_changes (day, category, provider, status, count, failed_over, undelivered, cost_usd)
    values ((new.created_at at time zone 'UTC')::date, new.category, new.provider, new.status, 1, new.failed_over::integer,
      email_is_undelivered(new.status, new.error)::integer, coalesce(new.cost_usd, 0));
  end if;
  return null;
end
$$;

-- Today's rows, which are nearly all that sends and events write, pass them by.
create trigger email_log_counted_insert after insert on email_log
for each row when (new.created_at < date_trunc('day', now(), 'UTC')) execute function email_log_counted();

-- Short, since every statement reads the condition anew: the row comparison here took a tenth of recording an event.
create trigger email_log_counted_update after update on email_log
for each row when (least(old.created_at, new.created_at) < date_trunc('day', now(), 'UTC'))
execute function email_log_counted();

-- Rows that have been kept for as long as they should stay in the statistics.
create trigger email_log_counted_delete after delete on email_log
for each row when (
  old.created_at < date_trunc('day', now(), 'UTC') and current_setting('postlane.pruning', true) is distinct from 'on'
)
execute function email_log_counted();

-- Folds changes into days that are closed, and closes the newest that is over and is not: its rows are counted and the changes
-- that they hold are dropped in one statement, so that both are seen or neither. A day is closed an hour after it is over,
-- since a transaction that began before midnight may still write it. Returns how many days it closed (0 or 1). Called by the leader,
-- which calls again while there is one.
create function close_email_stats_day() returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_day date;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('close_email_stats_day', 0)) then
    return 0;
  end if;
  with gone as (
    delete from email_stats_changes where ctid = any (array(
      select c.ctid from email_stats_changes c join email_stats_closed d on d.day = c.day limit 10000
    ))
    returning *
  )
  insert into email_stats_days as s (day, category, provider, status, count, failed_over, undelivered, cost_usd)
  select g.day, g.category, g.provider, g.status, sum(g.count), sum(g.failed_over), sum(g.undelivered), sum(g.cost_usd)
  from gone g
  group by 1, 2, 3, 4
  having sum(g.count) <> 0 or sum(g.failed_over) <> 0 or sum(g.undelivered) <> 0 or sum(g.cost_usd) <> 0
  on conflict (day, category, provider, status) do update set
    count = s.count + excluded.count, failed_over = s.failed_over + excluded.failed_over,
    undelivered = s.undelivered + excluded.undelivered, cost_usd = s.cost_usd + excluded.cost_usd;
  select d.day into v_day
  from (
    select g::date as day from generate_series(
      (select date_trunc('day', min(created_at) at time zone 'UTC') from email_log),
      date_trunc('day', (now() - interval '1 hour') at time zone 'UTC') - interval '1 day', interval '1 day'
    ) g
  ) d
  where not exists (select from email_stats_closed x where x.day = d.day)
  order by d.day desc
  limit 1;
  if v_day is null then
    return 0;
  end if;
  with gone as (delete from email_stats_changes where day = v_day),
  closed as (insert into email_stats_closed (day) values (v_day))
  insert into email_stats_days (day, category, provider, status, count, failed_over, undelivered, cost_usd)
  select v_day, l.category, l.provider, l.status, count(*), count(*) filter (where l.failed_over),
    count(*) filter (where l.error is not null and l.status in ('sent', 'delivery_delayed')), coalesce(sum(l.cost_usd), 0)
  from email_log l
  where l.created_at >= v_day::timestamp at time zone 'UTC' and l.created_at < (v_day + 1)::timestamp at time zone 'UTC'
  group by 2, 3, 4;
  return 1;
end
$$;

-- Suppresses by events whose mail the library never recorded, since its row was lost: after ten minutes nobody writes it any more, and
-- the recipients are those that the events name (EVENT-14). Returns how many rows it went through; the leader calls again while it
-- returns `p_limit`.
create function suppress_lost_email_rows(p_limit integer default 1000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r record;
  v_marks text[];
  v_suppress text[] := '{}';
  v_count integer := 0;
begin
  for r in
    select l.id, l.to_addresses, l.suppression_marks from email_log l
    where l.outcome is null and l.suppression_marks && array['hard_bounce:', 'complaint:']
      and l.created_at < now() - interval '10 minutes'
    order by l.created_at
    limit p_limit
    for update skip locked
  loop
    v_marks := array(
      select x.mark || r.to_addresses[1] from unnest(r.suppression_marks) as x(mark)
      where x.mark like '%:' and email_distinct_count(r.to_addresses) = 1
        and x.mark || r.to_addresses[1] <> all (r.suppression_marks)
    );
    v_suppress := v_suppress || v_marks;
    update email_log l set
      suppression_marks = array(select x.mark from unnest(r.suppression_marks) as x(mark) where x.mark not like '%:') || v_marks,
      updated_at = now()
    where l.id = r.id;
    v_count := v_count + 1;
  end loop;
  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'a delivery event of a mail whose row was lost');
  end if;
  return v_count;
end
$$;

-- Deletes rows of the log that are older than `p_keep`, with their events and alerts, the oldest first, `p_limit` at most; their
-- statistics stay (EVENT-64). Kept are rows whose key is still bound, whose deferral has not ended, whose alert has not gone out, of
-- which something was heard within seven days, and of days that are not closed. Goes from closed day to closed day, so that it reads
-- little more than it deletes however many rows there are of days that are open. Returns how many; the leader calls again while it
-- returns `p_limit`.
create function prune_email_log(p_keep interval, p_limit integer default 5000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_before timestamptz := now() - p_keep;
  v_day date;
  v_gone integer;
  v_count integer := 0;
begin
  perform set_config('postlane.pruning', 'on', true);
  for v_day in
    select d.day from email_stats_closed d
    where d.day between (select (min(l.created_at) at time zone 'UTC')::date from email_log l)
      and (v_before at time zone 'UTC')::date
    order by d.day
  loop
    with old as materialized (
      select l.id from email_log l
      where l.created_at >= v_day::timestamp at time zone 'UTC'
        and l.created_at < least(v_before, (v_day + 1)::timestamp at time zone 'UTC')
        and l.updated_at < now() - interval '7 days' and l.status <> 'deferred'
        and not exists (select from email_send_claims c where c.key_hash = l.key_hash)
        and not exists (select from email_alerts a where a.send_id = l.id and a.due_at is not null)
      order by l.created_at, l.id
      limit p_limit - v_count
      for update skip locked
    ), events as (delete from email_events x using old where x.send_id = old.id),
    alerts as (delete from email_alerts x using old where x.send_id = old.id)
    delete from email_log l using old where l.id = old.id;
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
    exit when v_count >= p_limit;
  end loop;
  perform set_config('postlane.pruning', '', true);
  return v_count;
end
$$;

-- Notes how far a process's clock is off; what nobody notes any more goes after a day. Called by `AlarmBoard`.
create function note_clock_difference(p_process text, p_difference_ms float8) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from clock_differences where process <> p_process and noted_at < clock_timestamp() - interval '1 day';
  insert into clock_differences (process, difference_ms, noted_at)
  values (p_process, p_difference_ms, clock_timestamp())
  on conflict (process) do update set difference_ms = excluded.difference_ms, noted_at = excluded.noted_at;
$$;

-- Writes what a send writes, for readiness: a row of its own is committed, so that the log of the database takes it; a claim and a
-- row of the send log are written and taken back, so that their files have room. Fails where one of them cannot be written.
create function check_that_mail_can_be_written(p_process text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_key text := 'readiness ' || gen_random_uuid();
begin
  insert into readiness_checks (process, written_at) values (p_process, clock_timestamp())
  on conflict (process) do update set written_at = excluded.written_at;
  begin
    insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at)
    values (v_key, '', 'held', 'provider_a', false, v_key, clock_timestamp());
    insert into email_log (category, outcome, status, key_hash, subject) values ('unknown', 'failed', 'failed', v_key, v_key);
    raise exception using errcode = 'PL001', message = 'written, and taken back';
  exception when sqlstate 'PL001' then
    null;
  end;
  delete from readiness_checks where process <> p_process and written_at < clock_timestamp() - interval '1 day';
end
$$;

select secure_table(name) from unnest(array[
  'clock_differences', 'readiness_checks',
  'event_intakes', 'email_alerts', 'email_events', 'admin_notification_preferences', 'event_poll_positions', 'email_alarms',
  'email_alarm_notices', 'audit_digest_subscriptions', 'audit_digest_deliveries', 'email_stats_days', 'email_stats_closed',
  'email_stats_changes'
]::regclass[]) as name;

select secure_function(name) from unnest(array[
  'note_event_intake(text)',
  'note_clock_difference(text, double precision)',
  'check_that_mail_can_be_written(text)',
  'email_alert_lease()',
  'keep_email_events(email_events[])',
  'erased_names(text[], email_log)',
  'record_email_events(jsonb)',
  'record_email_event(text, text, text, timestamp with time zone, text[], text, text, text, jsonb, text, text, text[], boolean, boolean)',
  'suppress_lost_email_rows(integer)',
  'release_email_alert(uuid)',
  'confirm_email_alert(uuid)',
  'claim_due_email_alerts(integer)',
  'change_email_alarm(text, boolean, integer, double precision, boolean, integer, double precision, text, text)',
  'claim_email_alarm_notice()',
  'claim_audit_digest(uuid, text, timestamp with time zone, text, integer, boolean, jsonb)',
  'settle_audit_digest(uuid, text, timestamp with time zone, text, text, boolean, text)',
  'request_function(text, integer)',
  'schedule_functions()',
  'this_midnight()',
  'email_log_counted()',
  'close_email_stats_day()',
  'prune_email_log(interval, integer)'
]::regprocedure[]) as name;
