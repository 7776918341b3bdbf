-- An alert is claimed, raised and confirmed: a claim whose process died between the claim and the alert is raised again
-- (invariant A1: at least once with crashes, once without).

-- One row for each alert that was claimed from here on. `email_log.alerted_at` keeps saying that the alert is claimed; a
-- row of the log that has it and none here was claimed before, or kept its claim as a backfill: both count as settled.
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
  -- What the alert says (the body of `POST /internal/email-alert` without `sendId`); empty once it is confirmed, so that
  -- no address stays here.
  details jsonb not null,
  constraint email_alerts_confirmed check ((due_at is null) = (confirmed_at is not null))
);

create index email_alerts_due on email_alerts (due_at) where due_at is not null;

-- How long whoever claimed an alert has for it. Longer than the alert's own time limit (`ALERT_TIME_LIMIT`, two minutes).
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

-- Folds delivery events into the send log, several in one call; `ordinal` counts the events from 1. Keys of an event are
-- the parameters of `record_email_event` without `p_`. For each event:
--
-- * The row is the one of (provider, provider_message_id). Where there is none and the event names a key, the newest
--   `deferred` row of that key and provider gets the message id and moves to `sent` or further, unless an attempt on the
--   key is under way right now: then the event may be that attempt's, which will find it. Else the event makes a row.
-- * Status only moves forward, never out of a terminal one (L2). `error` is the reason of the failure that moved it.
-- * `last_event` and `raw` are of the latest event by occurrence; without a time it counts from now, and not at all
--   where it is the last one already. Of two at the same time the one with the greater name wins.
-- * `alert` says that this call claimed the row's one alert: the first provider-reported failure, unless `alertable` is
--   false. What the alert is about stays in `email_alerts` until it is confirmed; `category` is the category that the
--   event's tags name. With `backfill`, an event that makes its row keeps that claim without an alert.
-- * A permanent bounce and a complaint suppress the addresses in `suppress` where it is given, else the mail's recipient
--   where it has exactly one (the row's where the library wrote it, else the event's `recipients`). Each event does so
--   once, so that one that comes again does not bring back a suppression that was lifted.
-- * An event that comes again changes nothing (L3).
create or replace function record_email_events(p_events jsonb)
returns table (ordinal integer, send_id uuid, status text, alert boolean, backfilled boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  e record;
  r email_log;
  v_lock bigint;
  v_new boolean;
  v_changed boolean;
  v_busy boolean;
  v_since timestamptz;
  v_rank integer;
  v_at timestamptz;
  v_reason text;
  v_marks text[];
  v_suppress text[] := '{}';
begin
  if p_events @? '$[*].key_hash ? (@ != null)' then
    for v_lock in
      select distinct email_key_lock(x.provider, x.key_hash)
      from jsonb_to_recordset(p_events) as x(provider text, provider_message_id text, key_hash text)
      where x.key_hash is not null
        and not exists (
          select from email_log l where l.provider = x.provider and l.provider_message_id = x.provider_message_id)
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
      x.key_hash,
      case
        when x.event = 'bounced' and lower(x.bounce_type) = 'permanent' then 'hard_bounce'
        when x.event = 'complained' then 'complaint'
      end as suppression,
      case when jsonb_typeof(x.suppress) = 'array' then email_addresses(x.suppress) end as suppress,
      coalesce(x.alertable, true) as alertable,
      coalesce(x.backfill, false) as backfill,
      x.category
    from rows from (jsonb_to_recordset(p_events) as (
      provider text, provider_message_id text, event text, occurred_at timestamptz, recipients jsonb, subject text,
      "from" text, reason text, raw jsonb, key_hash text, bounce_type text, suppress jsonb, alertable boolean,
      backfill boolean, category text
    )) with ordinality as x(
      provider, provider_message_id, event, occurred_at, recipients, subject,
      "from", reason, raw, key_hash, bounce_type, suppress, alertable,
      backfill, category, ord
    )
    order by x.provider collate "C", x.provider_message_id collate "C", x.ord
  loop
    if e.provider is null or coalesce(e.provider_message_id, '') = '' or e.event is null then
      raise exception 'a delivery event needs provider, provider_message_id and event' using errcode = '22004';
    end if;
    v_rank := case when e.event <> 'deferred' then email_status_rank(e.event) end;

    loop
      select * into r from email_log l
      where l.provider = e.provider and l.provider_message_id = e.provider_message_id
      for update;
      v_new := not found;

      if v_new and e.key_hash is not null then
        v_busy := false;
        v_since := null;
        select coalesce(c.lease_until > clock_timestamp(), false), c.first_attempt_at into v_busy, v_since
        from email_send_claims c where c.key_hash = e.key_hash;
        if not coalesce(v_busy, false) then
          select * into r from email_log l
          where l.key_hash = e.key_hash and l.provider = e.provider and l.status = 'deferred'
            and l.provider_message_id is null and l.created_at >= coalesce(v_since, '-infinity')
          order by l.created_at desc, l.id desc
          limit 1
          for update;
          if found then
            begin
              update email_log l set provider_message_id = e.provider_message_id, status = 'sent', updated_at = now()
              where l.id = r.id
              returning * into r;
            exception
              when unique_violation then continue; -- Its own attempt wrote the message id since we looked.
            end;
            v_new := false;
          end if;
        end if;
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
        if r.key_hash is null and e.key_hash is not null then
          r.key_hash := e.key_hash;
          v_changed := true;
        end if;
      end if;

      if v_rank > email_status_rank(r.status) then
        r.status := e.event;
        v_changed := true;
        if v_rank = 100 then
          r.error := coalesce(e.reason, r.error);
        end if;
      end if;

      v_at := e.occurred_at;
      if v_at is null and r.last_event is distinct from e.event then
        v_at := clock_timestamp();
      end if;
      if v_at is not null and (
        r.last_event is null
        or v_at > r.last_event_at
        or (v_at = r.last_event_at and e.event collate "C" > r.last_event collate "C")
      ) then
        r.last_event := e.event;
        r.last_event_at := v_at;
        r.raw := e.raw;
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
            case when r.recipient_count = 1 then (r.to_addresses || r.other_addresses)[1:1] else '{}' end
          when e.recipients = '{}' then array['']
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
          error, key_hash, alerted_at, suppression_marks
        ) values (
          r.id, r.from_address, r.to_addresses, r.subject, r.status, r.provider, r.provider_message_id, r.last_event,
          r.last_event_at, r.raw, r.error, r.key_hash, r.alerted_at, r.suppression_marks
        )
        on conflict (provider, provider_message_id) do nothing;
        exit when found;
      elsif v_changed then
        update email_log l set
          from_address = r.from_address,
          to_addresses = r.to_addresses,
          subject = r.subject,
          status = r.status,
          last_event = r.last_event,
          last_event_at = r.last_event_at,
          raw = r.raw,
          error = r.error,
          key_hash = r.key_hash,
          alerted_at = r.alerted_at,
          suppression_marks = r.suppression_marks,
          updated_at = now()
        where l.id = r.id;
        exit;
      else
        exit;
      end if;
    end loop;

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
          'category', e.category,
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

  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'delivery event');
  end if;
end
$$;

-- Gives back the claim of an alert that did not go out, so that the next event alerts; false where there is none, or where
-- the alert went out after all. Without such an event it is due again by itself after a minute, then after twice the time
-- with every claim, up to an hour.
--
-- This function and the next lock the row of the log first, as the writers of events do.
create or replace function release_email_alert(p_send_id uuid) returns boolean
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

-- Notes that the alert went out, or is not wanted: nothing raises it again. Holds also where its claim was given back
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
-- claimed since. Of several callers at once each alert goes to one.
create function claim_due_email_alerts(p_limit integer default 1) returns table (send_id uuid, details jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
begin
  -- Nothing is left to say about a mail whose row is gone.
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

select secure_table('email_alerts');
select secure_function('email_alert_lease()');
select secure_function('record_email_events(jsonb)');
select secure_function('release_email_alert(uuid)');
select secure_function('confirm_email_alert(uuid)');
select secure_function('claim_due_email_alerts(integer)');
