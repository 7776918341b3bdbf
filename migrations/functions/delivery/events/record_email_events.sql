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
create or replace function record_email_events(p_events jsonb)
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
