-- The writer of delivery events: webhooks and the poll.

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
--   false. With `backfill`, an event that makes its row keeps that claim without an alert.
-- * A permanent bounce and a complaint suppress the addresses in `suppress` where it is given, else the mail's recipient
--   where it has exactly one (the row's where the library wrote it, else the event's `recipients`). Each event does so
--   once, so that one that comes again does not bring back a suppression that was lifted.
-- * An event that comes again changes nothing (L3).
create function record_email_events(p_events jsonb)
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
      coalesce(x.backfill, false) as backfill
    from rows from (jsonb_to_recordset(p_events) as (
      provider text, provider_message_id text, event text, occurred_at timestamptz, recipients jsonb, subject text,
      "from" text, reason text, raw jsonb, key_hash text, bounce_type text, suppress jsonb, alertable boolean,
      backfill boolean
    )) with ordinality as x(
      provider, provider_message_id, event, occurred_at, recipients, subject,
      "from", reason, raw, key_hash, bounce_type, suppress, alertable,
      backfill, ord
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

-- Folds one delivery event into the send log: `record_email_events` for one event.
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
  p_key_hash text default null,
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
    'key_hash', p_key_hash,
    'bounce_type', p_bounce_type,
    'suppress', to_jsonb(p_suppress),
    'alertable', p_alertable,
    'backfill', p_backfill
  ))) as x
$$;

-- Gives back the claim of an alert that did not go out, so that the next event alerts; false where there is none.
create function release_email_alert(p_send_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update email_log set alerted_at = null, updated_at = now() where id = p_send_id and alerted_at is not null;
  return found;
end
$$;

select secure_function('record_email_events(jsonb)');
select secure_function('record_email_event(text, text, text, timestamptz, text[], text, text, text, jsonb, text, text, text[], boolean, boolean)');
select secure_function('release_email_alert(uuid)');
