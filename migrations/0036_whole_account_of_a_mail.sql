-- The log keeps who was left out of a mail and finds a mail by any of its recipients; an event that comes before its row
-- suppresses nobody until the row says who the recipients are; poll and webhook end in one account, whichever comes first; a
-- deferral that an event settles has its price; and an alert says what kind of mail it is about.

-- What an event says of a mail, and when.
create type email_account as (event text, moment timestamptz, raw jsonb);

alter table email_log
  -- Recipients that were left out since they are suppressed.
  add column dropped_addresses text[] not null default '{}',
  -- What a deferred attempt costs if it turns out to have been accepted.
  add column accepted_cost_usd numeric,
  -- Only where the poll has seen the mail: the latest event that came by itself (`told`), and the latest that the provider's list
  -- showed (`listed`), each an `email_account`. `last_event`, `last_event_at` and `raw` are one of the two.
  add column accounts jsonb;

-- Whoever asks for a recipient means all of them. Queries repeat the expression as it is here.
drop index email_log_recipient;
create index email_log_recipient on email_log using gin ((to_addresses || other_addresses || dropped_addresses));

-- As in 0004 and 0033, with two keys more of an entry: `dropped` (who was left out of the mail) and `accepted_cost_usd` (what a
-- deferred attempt costs once an event proves it accepted).
create or replace function record_email_sends(p_entries jsonb)
returns table (ordinal integer, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  e record;
  r email_log;
  v_found boolean;
  v_row_id uuid;
  v_lock bigint;
  v_marks text[];
  v_suppress text[] := '{}';
  -- What a caller is told otherwise than it asked for, by entry: the row's own id, and an acceptance that was proven.
  v_told jsonb := '{}';
begin
  if p_entries @? '$[*] ? (@.outcome == "deferred" || @.status == "deferred")' then
    for v_lock in
      select distinct email_key_lock(x.provider, coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')))
      from jsonb_to_recordset(p_entries) as x(
        outcome text, status text, provider text, provider_message_id text, key_hash text, idempotency_key text)
      where coalesce(x.outcome, x.status) = 'deferred' and x.provider is not null and x.provider_message_id is null
        and coalesce(x.key_hash, x.idempotency_key) is not null
      order by 1
    loop
      perform pg_advisory_xact_lock(v_lock);
    end loop;
  end if;

  for e in
    select
      x.ord,
      coalesce(x.id, gen_random_uuid()) as id,
      coalesce(x.category, 'unknown') as category,
      x.source,
      case
        when position('<' in coalesce(x."from", x.from_address)) = 0 then lower(btrim(coalesce(x."from", x.from_address)))
        else email_bare_address(coalesce(x."from", x.from_address))
      end as from_address,
      email_addresses(coalesce(x."to", x.to_addresses)) as to_addresses,
      email_addresses(coalesce(x.others, x.other_addresses)) as other_addresses,
      email_addresses(coalesce(x.dropped, x.dropped_addresses)) as dropped_addresses,
      x.subject,
      coalesce(x.outcome, x.status) as outcome,
      x.error,
      x.error_kind,
      coalesce(x.failed_over, false) as failed_over,
      x.cost_usd,
      x.accepted_cost_usd,
      x.idempotency_key,
      coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key_hash,
      x.provider,
      x.provider_message_id,
      x.settle
    from rows from (jsonb_to_recordset(p_entries) as (
      id uuid, category text, source text, "from" text, from_address text, "to" jsonb, to_addresses jsonb,
      others jsonb, other_addresses jsonb, dropped jsonb, dropped_addresses jsonb, subject text, outcome text, status text,
      error text, error_kind text, failed_over boolean, cost_usd numeric, accepted_cost_usd numeric, idempotency_key text,
      key_hash text, provider text,
      provider_message_id text, settle jsonb
    )) with ordinality as x(
      id, category, source, "from", from_address, "to", to_addresses,
      others, other_addresses, dropped, dropped_addresses, subject, outcome, status,
      error, error_kind, failed_over, cost_usd, accepted_cost_usd, idempotency_key,
      key_hash, provider,
      provider_message_id, settle, ord
    )
    order by
      x.provider collate "C" nulls last,
      coalesce(
        x.provider_message_id,
        (select l.provider_message_id from email_log l where l.entry_id = x.id),
        case when coalesce(x.outcome, x.status) = 'deferred' then (
          select l.provider_message_id from email_log l
          where l.key_hash = coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex'))
            and l.provider = x.provider and l.outcome is null and l.provider_message_id is not null
          order by l.created_at desc, l.id desc
          limit 1
        ) end
      ) collate "C" nulls last,
      x.id, x.ord
  loop
    v_found := false;

    -- A row that an event had made, completed by this very entry before.
    if e.provider_message_id is null then
      select * into r from email_log l where l.entry_id = e.id for update;
      v_found := found;
    end if;

    if not v_found and e.outcome = 'deferred' and e.provider_message_id is null and e.key_hash is not null
      and not exists (select from email_log l where l.id = e.id)
    then
      select * into r
      from email_log l
      where l.key_hash = e.key_hash and l.provider = e.provider and l.outcome is null
        and l.provider_message_id is not null
        and l.created_at >= coalesce(
          (select c.first_attempt_at from email_send_claims c where c.key_hash = e.key_hash), '-infinity')
      order by l.created_at desc, l.id desc
      limit 1
      for update;
      v_found := found;
    end if;

    v_row_id := e.id;
    while not v_found loop
      insert into email_log as l (
        id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject,
        outcome, status, provider, provider_message_id, error, error_kind, failed_over, cost_usd, accepted_cost_usd,
        idempotency_key, key_hash
      ) values (
        v_row_id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses, e.dropped_addresses,
        email_distinct_count(e.to_addresses || e.other_addresses), e.subject,
        e.outcome, e.outcome, e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd,
        e.accepted_cost_usd, e.idempotency_key, e.key_hash
      )
      on conflict do nothing
      returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      exit when found;
      select * into r from email_log l
      where l.provider = e.provider and l.provider_message_id = e.provider_message_id
      for update;
      v_found := found;
      if not v_found then
        select * into strict r from email_log l where l.id = e.id for update;
        v_found := e.provider_message_id is null or coalesce(
          r.provider_message_id is null and email_status_rank(e.outcome) > email_status_rank(r.outcome), true);
        -- The row ended otherwise, or as another message: this acceptance is proof, and has a row of its own.
        v_row_id := gen_random_uuid();
      end if;
    end loop;

    if v_found then
      if r.outcome is null then
        v_marks := array(
          select x.mark || (e.to_addresses || e.other_addresses)[1] from unnest(r.suppression_marks) as x(mark)
          where x.mark like '%:' and email_distinct_count(e.to_addresses || e.other_addresses) = 1
        );
        v_suppress := v_suppress || v_marks;
        update email_log l set
          category = e.category,
          source = e.source,
          from_address = coalesce(e.from_address, l.from_address),
          to_addresses = e.to_addresses,
          other_addresses = e.other_addresses,
          dropped_addresses = e.dropped_addresses,
          recipient_count = email_distinct_count(e.to_addresses || e.other_addresses),
          subject = coalesce(e.subject, l.subject),
          outcome = e.outcome,
          status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
          error = coalesce(l.error, e.error),
          error_kind = e.error_kind,
          failed_over = e.failed_over,
          -- The event that made the row is the proof that a deferral was accepted.
          cost_usd = case when e.outcome = 'deferred' then coalesce(e.cost_usd, e.accepted_cost_usd) else e.cost_usd end,
          accepted_cost_usd = e.accepted_cost_usd,
          idempotency_key = e.idempotency_key,
          key_hash = coalesce(e.key_hash, l.key_hash),
          suppression_marks = l.suppression_marks || v_marks,
          entry_id = e.id,
          updated_at = now()
        where l.id = r.id
        returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      elsif email_status_rank(e.outcome) > email_status_rank(r.outcome) then
        -- The retry's acceptance came back as an event first and moved the deferred row: that row is the accepted one.
        update email_log l set
          outcome = e.outcome,
          status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
          provider = coalesce(l.provider, e.provider),
          provider_message_id = coalesce(l.provider_message_id, e.provider_message_id),
          error = coalesce(l.error, e.error),
          error_kind = coalesce(l.error_kind, e.error_kind),
          failed_over = l.failed_over or e.failed_over,
          cost_usd = coalesce(l.cost_usd, e.cost_usd),
          updated_at = now()
        where l.id = r.id
        returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      else
        send_id := r.id;
        status := r.status;
        provider_message_id := r.provider_message_id;
      end if;
    end if;
    if v_found or send_id <> e.id then
      v_told := v_told || jsonb_build_object(e.id, case when send_id = e.id then '{}'
        else jsonb_build_object('sendId', send_id) end || case
        when e.outcome = 'deferred' and provider_message_id is not null
        then jsonb_build_object('status', 'sent', 'providerMessageId', provider_message_id)
        else '{}' end);
    end if;

    ordinal := e.ord;
    return next;
  end loop;

  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'a delivery event that came before its row');
  end if;

  if p_entries @? '$[*].settle ? (@ != null)' then
    for e in
      select
        coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key_hash,
        x.settle ->> 'owner' as owner,
        x.settle ->> 'state' as state,
        coalesce((x.settle ->> 'ambiguous')::boolean, false) as ambiguous,
        (x.settle -> 'result') || coalesce(v_told -> x.id, '{}') as result
      from jsonb_to_recordset(p_entries) as x(id text, key_hash text, idempotency_key text, settle jsonb)
      where jsonb_typeof(x.settle) = 'object'
      order by key_hash
    loop
      if jsonb_typeof(e.result) = 'object' then
        -- A caller that never heard of an earlier ambiguous attempt cannot set its key free.
        update email_send_claims c set
          state = case when c.ambiguous and e.state = 'refused' then 'ambiguous' else e.state end,
          ambiguous = c.ambiguous or e.ambiguous, result = e.result, lease_until = null, updated_at = now()
        where c.key_hash = e.key_hash and c.owner = e.owner and c.state = 'held';
      else
        update email_send_claims c set
          ambiguous = c.ambiguous or e.ambiguous, lease_until = null, updated_at = now()
        where c.key_hash = e.key_hash and c.owner = e.owner and c.lease_until is not null;
      end if;
    end loop;
  end if;
end
$$;

drop function record_email_events(jsonb);

-- Folds delivery events into the send log, several in one call; `ordinal` counts the events from 1. Keys of an event are
-- the parameters of `record_email_event` without `p_`, `category` (which the event's tags name) and `listed` (the event is what
-- the provider's list says of the mail, seen at `occurred_at`). For each event:
--
-- * The row is the one of (provider, provider_message_id). Where there is none and the event names a key, the newest
--   `deferred` row of that key and provider gets the message id and moves to `sent` or further, unless an attempt on the
--   key is under way right now: then the event may be that attempt's, which will find it. Else the event makes a row.
-- * Status only moves forward, never out of a terminal one (L2). `error` is the reason of the failure that moved it, also where
--   that one gave none (the list never does) and its reason comes with a later account of it.
-- * `last_event` and `raw` are of the latest event by occurrence; without a time it counts from now, and not at all
--   where it is the last one already. Of two at the same time the one with the greater name wins. Of an event that was both
--   told and listed, the account that was told stands: it has the moment and the reason.
-- * `alert` says that this call claimed the row's one alert: the first provider-reported failure, unless `alertable` is
--   false. What the alert is about stays in `email_alerts` until it is confirmed, with the row's category and source, which
--   are answered too; where the library did not write the row, the category is the event's. With `backfill`, an event that
--   makes its row keeps that claim without an alert.
-- * A permanent bounce and a complaint suppress the addresses in `suppress` where it is given, else the mail's recipient
--   where it has exactly one: the row's where the library wrote it. An event that names a key is about the library's mail,
--   and waits for the row, since the event alone may not know of Cc and Bcc; of mail that was sent outside the library the
--   event's `recipients` are all that will ever be known. Each event does so once, so that one that comes again does not
--   bring back a suppression that was lifted.
-- * An event that comes again changes nothing (L3).
create function record_email_events(p_events jsonb)
returns table (
  ordinal integer, send_id uuid, status text, alert boolean, backfilled boolean, category text, source text
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
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
  v_told email_account;
  v_listed email_account;
  v_known email_account;
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
      x.category,
      coalesce(x.listed, false) as listed
    from rows from (jsonb_to_recordset(p_events) as (
      provider text, provider_message_id text, event text, occurred_at timestamptz, recipients jsonb, subject text,
      "from" text, reason text, raw jsonb, key_hash text, bounce_type text, suppress jsonb, alertable boolean,
      backfill boolean, category text, listed boolean
    )) with ordinality as x(
      provider, provider_message_id, event, occurred_at, recipients, subject,
      "from", reason, raw, key_hash, bounce_type, suppress, alertable,
      backfill, category, listed, ord
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
              update email_log l set
                provider_message_id = e.provider_message_id, status = 'sent',
                cost_usd = coalesce(l.cost_usd, l.accepted_cost_usd), updated_at = now()
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
      elsif v_rank = 100 and r.status = e.event and r.error is null and e.reason is not null then
        r.error := e.reason;
        v_changed := true;
      end if;

      v_listed := jsonb_populate_record(null::email_account, r.accounts -> 'listed');
      if r.accounts is null then
        v_told := row(r.last_event, r.last_event_at, r.raw);
      else
        v_told := jsonb_populate_record(null::email_account, nullif(r.accounts -> 'told', 'null'));
      end if;
      if e.listed then
        v_known := v_listed;
      else
        v_known := v_told;
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
          v_told := v_known;
        end if;
        v_known := v_told;
        if v_listed.event is not null then
          r.accounts := jsonb_build_object(
            'told', case when v_told.event is not null then to_jsonb(v_told) end, 'listed', to_jsonb(v_listed));
          if v_told.event is null or v_told.event <> v_listed.event
            and (v_listed.moment, v_listed.event collate "C") > (v_told.moment, v_told.event collate "C")
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
            case when r.recipient_count = 1 then (r.to_addresses || r.other_addresses)[1:1] else '{}' end
          when e.key_hash is not null or e.recipients = '{}' then array['']
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
          error, key_hash, alerted_at, suppression_marks, accounts
        ) values (
          r.id, r.from_address, r.to_addresses, r.subject, r.status, r.provider, r.provider_message_id, r.last_event,
          r.last_event_at, r.raw, r.error, r.key_hash, r.alerted_at, r.suppression_marks, r.accounts
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
          accounts = r.accounts,
          updated_at = now()
        where l.id = r.id;
        exit;
      else
        exit;
      end if;
    end loop;

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

  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'delivery event');
  end if;
end
$$;

-- As migration 0023 has it, with the new columns of the log. The log comes first, as in the writers of events, which lock a row
-- before they add its suppressions.
create or replace function erase_person(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_hash bytea := address_hash(p_email);
  v_alias text := 'erased:' || encode(v_hash, 'hex');
  v_id uuid;
  v_found boolean;
begin
  v_found := erase_intake_person(p_email);

  update email_log set
    to_addresses = array_replace(to_addresses, p_email, v_alias),
    other_addresses = array_replace(other_addresses, p_email, v_alias),
    dropped_addresses = array_replace(dropped_addresses, p_email, v_alias),
    suppression_marks = '{}', subject = null, raw = null, accounts = null, updated_at = now()
  where (to_addresses || other_addresses || dropped_addresses) @> array[p_email];
  v_found := v_found or found;

  insert into erased_suppressions (address_hash, reason)
  select v_hash, s.reason from email_suppressions s where s.email = p_email
  on conflict do nothing;
  v_found := v_found or found;
  delete from email_suppressions where email = p_email;

  select c.id into v_id from customers c where c.email = p_email for update;
  if found then
    v_found := true;
    perform close_account(v_id);
    update customers set email = v_alias || ':' || v_id, name = null where id = v_id;
    delete from api_tokens where customer_id = v_id;
  end if;

  delete from team_invites where email = p_email;
  v_found := v_found or found;
  delete from contact_messages where lower(email) = p_email;
  v_found := v_found or found;
  delete from email_alerts where due_at is not null and details -> 'recipients' ? p_email;

  v_found := erase_outreach_person(p_email) or v_found;
  if v_found then
    insert into admin_audit_log (action, actor, target) values ('person_erased', p_actor, v_alias);
  end if;
  return v_found;
end
$$;


select secure_function('record_email_sends(jsonb)');
select secure_function('record_email_events(jsonb)');
select secure_function('erase_person(text, text)');
