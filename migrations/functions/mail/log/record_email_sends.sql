-- Writes rows of the library, several in one call (MAIL-70, MAIL-71); `ordinal` counts the entries from 1. Called by
-- `MailStore`. Keys of an entry:
--
--   id, category, source, from (or from_address), to (or to_addresses), others, dropped (recipients that were left out),
--   subject, outcome (or status: sent, deferred, suppressed, failed), error, error_kind, failed_over, cost_usd,
--   accepted_cost_usd (what a deferred attempt costs once an event proves it accepted), idempotency_key, key_hash (else
--   the SHA-256 hex of idempotency_key), key_tag (the tag that the request carried), provider, provider_message_id, settle { owner, state, ambiguous, result },
--   retry_at (of a deferral), attempts [{ provider, outcome, reason, code, startedAt, durationMs }] (MAIL-74).
--
-- One row an attempt, whichever writer comes first (L1). Idempotent on `id` and on (provider, provider_message_id): a row
-- that an event made is completed, keeps its id, and has the further of both statuses; a row that is complete is not
-- changed by the same entry again.
--
-- A `deferred` entry whose use of its key has evidence on a row that only events wrote completes that row, whichever provider it
-- is of. Where the evidence stands on another attempt's row, this attempt's row is written as it is, `deferred`: the key is settled by the other
-- row (D1 counts all rows of a key together), its retry ends without sending, and the end state is the one of the other
-- order, in which the event would have found both rows and moved one of them.
--
-- An acceptance whose row has ended otherwise has a row of its own (MAIL-58): a retry whose failure was written, but whose
-- queue never learned it, comes back, and a provider that dedupes may accept it then. Without that row the only evidence
-- would be lost, and the next call on the key would send again.
--
-- `settle` ends what its owner holds of the key (see `begin_email_sends`, `begin_email_retry`), and nobody else's, as `settledClaim`
-- in the domain says: without `result` it only returns a retry's lease. The result is kept as the caller received it, with the
-- row's own id; that of a retry of an earlier use is not.
--
-- Lock order: keys, rows by (provider, provider_message_id), suppressions, claims. A deferral completes the row that an
-- early event made, and locks it at that row's place in the order; the key's lock keeps events from making such a row
-- meanwhile, and another writer of the same attempt from missing that it was completed. Rows are found by the indexes, whatever
-- the statistics say of a log that grew quickly.
create or replace function record_email_sends(p_entries jsonb)
returns table (ordinal integer, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  e email_log_row;
  r email_log;
  v_entries email_log_row[];
  v_settle record;
  v_retries boolean;
  v_unproven boolean;
  v_found boolean;
  v_row email_log_row;
  v_lock bigint;
  v_sent_to boolean;
  v_marks text[];
  v_suppress text[] := '{}';
  -- What the kept result says other than the entry, by entry: the row's own id, and an acceptance that was proven.
  v_learned jsonb := '{}';
begin
  v_retries := p_entries @? '$[*].settle.isRetry ? (@ == true)';
  if v_retries then
    -- Before any other lock, as there: an erasure neither misses the row nor is missed by it.
    perform pg_advisory_xact_lock_shared(email_key_lock('erase_person'));
  end if;
  v_unproven := p_entries @? '$[*] ? (!exists(@.provider_message_id ? (@ != null)))';
  if v_unproven then
    for v_lock in
      select distinct email_key_lock(
        coalesce(x.key_tag, x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')))
      from jsonb_to_recordset(p_entries) as x(
        provider text, provider_message_id text, key_hash text, key_tag text, idempotency_key text)
      where x.provider is not null and x.provider_message_id is null
        and coalesce(x.key_tag, x.key_hash, x.idempotency_key) is not null
      order by 1
    loop
      perform pg_advisory_xact_lock(v_lock);
    end loop;
  end if;
  if v_retries then
    -- Not before: what another writer says of the key decides whom its rows may name.
    p_entries := without_erased_people(p_entries);
  end if;

  v_entries := array(
    select row(
      x.ord,
      coalesce(x.id, gen_random_uuid()),
      coalesce(x.category, 'unknown'),
      x.source,
      case
        when position('<' in coalesce(x."from", x.from_address)) = 0 then lower(trim_address(coalesce(x."from", x.from_address)))
        else email_bare_address(coalesce(x."from", x.from_address))
      end,
      email_addresses(coalesce(x."to", x.to_addresses)),
      email_addresses(coalesce(x.others, x.other_addresses)),
      email_addresses(coalesce(x.dropped, x.dropped_addresses)),
      x.subject,
      coalesce(x.outcome, x.status),
      x.error,
      x.error_kind,
      coalesce(x.failed_over, false),
      x.cost_usd,
      x.accepted_cost_usd,
      x.idempotency_key,
      coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')),
      x.key_tag,
      x.provider,
      x.provider_message_id,
      x.retry_at,
      nullif(x.attempts, '[]'),
      x.traceparent
    )::email_log_row
    from rows from (jsonb_to_recordset(p_entries) as (
      id uuid, category text, source text, "from" text, from_address text, "to" jsonb, to_addresses jsonb,
      others jsonb, other_addresses jsonb, dropped jsonb, dropped_addresses jsonb, subject text, outcome text, status text,
      error text, error_kind text, failed_over boolean, cost_usd numeric, accepted_cost_usd numeric, idempotency_key text,
      key_hash text, key_tag text, provider text,
      provider_message_id text, retry_at timestamptz, attempts jsonb, traceparent text, settle jsonb
    )) with ordinality as x(
      id, category, source, "from", from_address, "to", to_addresses,
      others, other_addresses, dropped, dropped_addresses, subject, outcome, status,
      error, error_kind, failed_over, cost_usd, accepted_cost_usd, idempotency_key,
      key_hash, key_tag, provider,
      provider_message_id, retry_at, attempts, traceparent, settle, ord
    )
    -- The row that an event had made, of whichever provider it is.
    left join lateral (
      select l.provider, l.provider_message_id from email_log l
      where coalesce(x.outcome, x.status) = 'deferred' and l.key_tag = x.key_tag and l.outcome is null
        and l.outcome is distinct from 'sent' and l.provider_message_id is not null
        and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
      order by l.created_at desc, l.id desc
      limit 1
    ) as early on true
    order by
      coalesce(early.provider, x.provider) collate "C" nulls last,
      coalesce(
        x.provider_message_id,
        (select l.provider_message_id from email_log l where l.entry_id = x.id),
        early.provider_message_id
      ) collate "C" nulls last,
      x.id, x.ord
  );

  -- Acceptances that nothing is known of are written at once. If one has a row, none is written here: each takes its place below.
  if not v_unproven then
    begin
      select count(*) = cardinality(v_entries) into strict v_found from insert_email_rows(v_entries);
      if not v_found then
        raise unique_violation;
      end if;
      return query select x.ordinal, x.id, x.outcome, x.provider_message_id from unnest(v_entries) as x;
      v_entries := '{}';
    exception when unique_violation then null;
    end;
  end if;

  foreach e in array v_entries
  loop
    v_found := false;

    -- A row that an event had made, completed by this very entry before.
    if e.provider_message_id is null then
      select * into r from email_log l where l.entry_id = e.id for update;
      v_found := found;
    end if;

    if not v_found and e.outcome = 'deferred' and e.provider_message_id is null and e.key_tag is not null
      and not exists (select from email_log l where l.id = e.id)
    then
      select * into r
      from email_log l
      where l.key_tag = e.key_tag and l.outcome is null and l.outcome is distinct from 'sent'
        and l.provider_message_id is not null
        -- A tag is a key's for as long as nobody knows of an earlier use: yesterday's mail is not this one.
        and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
      order by l.created_at desc, l.id desc
      limit 1
      for update;
      v_found := found;
    end if;

    v_row := e;
    while not v_found loop
      perform insert_email_rows(array[v_row]);
      if found then
        send_id := v_row.id;
        status := e.outcome;
        provider_message_id := e.provider_message_id;
        exit;
      end if;
      select * into r from email_log l
      where l.provider = e.provider and l.provider_message_id = e.provider_message_id
      for update;
      v_found := found;
      if not v_found then
        select * into strict r from email_log l where l.id = e.id for update;
        v_found := e.provider_message_id is null or coalesce(
          r.provider_message_id is null and email_status_rank(e.outcome) > email_status_rank(r.outcome), true);
        if v_found and e.provider_message_id is not null and r.provider_message_id is null then
          begin
            update email_log l set provider = coalesce(l.provider, e.provider), provider_message_id = e.provider_message_id
            where l.id = r.id
            returning * into r;
          exception when unique_violation then
            v_found := false;
            continue; -- An event made the row of the message meanwhile.
          end;
        end if;
        -- The row ended otherwise, or as another message: this acceptance is proof, and gets a row of its own (MAIL-58).
        v_row.id := gen_random_uuid();
      end if;
    end loop;

    if v_found then
      if r.outcome is null then
        v_marks := array(
          select x.mark || (e.to_addresses || e.other_addresses)[1] from unnest(r.suppression_marks) as x(mark)
          where x.mark like '%:' and email_distinct_count(e.to_addresses || e.other_addresses) = 1
        );
        v_suppress := v_suppress || v_marks;
        begin
          update email_log l set entry_id = e.id where l.id = r.id;
        exception when unique_violation then
          null; -- The attempt completed the row of another message before.
        end;
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
          -- A temporary bounce of a mail that its only recipient got is an automatic reply (EVENT-16).
          error = case
            when email_status_rank(l.status) between email_status_rank('delivered') and email_status_rank('clicked')
              and email_distinct_count(e.to_addresses || e.other_addresses) < 2 then e.error
            else coalesce(l.error, e.error)
          end,
          error_kind = e.error_kind,
          failed_over = e.failed_over,
          -- The event that made the row is the proof that a deferral was accepted.
          cost_usd = case when e.outcome = 'deferred' then coalesce(e.cost_usd, e.accepted_cost_usd) else e.cost_usd end,
          accepted_cost_usd = e.accepted_cost_usd,
          idempotency_key = e.idempotency_key,
          key_hash = coalesce(e.key_hash, l.key_hash),
          key_tag = coalesce(e.key_tag, l.key_tag),
          suppression_marks = l.suppression_marks || v_marks,
          retry_at = e.retry_at,
          attempts = e.attempts,
          traceparent = e.traceparent,
          updated_at = now()
        where l.id = r.id
        returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      elsif email_status_rank(e.outcome) > email_status_rank(r.outcome) then
        -- The retry's acceptance came back as an event first and moved the deferred row: that row is the accepted one. A retry
        -- that comes again may have gone to others than its first run, before the suppressions changed.
        v_sent_to := e.outcome = 'sent' and not exists (
          select from unnest(r.to_addresses || r.other_addresses || r.dropped_addresses) as x(address)
          where x.address like 'erased:%'
        );
        update email_log l set
          to_addresses = case when v_sent_to then e.to_addresses else l.to_addresses end,
          other_addresses = case when v_sent_to then e.other_addresses else l.other_addresses end,
          dropped_addresses = case when v_sent_to then e.dropped_addresses else l.dropped_addresses end,
          recipient_count = case when v_sent_to then email_distinct_count(e.to_addresses || e.other_addresses)
            else l.recipient_count end,
          outcome = e.outcome,
          status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
          provider = coalesce(l.provider, e.provider),
          provider_message_id = coalesce(l.provider_message_id, e.provider_message_id),
          error = coalesce(l.error, e.error),
          error_kind = coalesce(l.error_kind, e.error_kind),
          failed_over = l.failed_over or e.failed_over,
          cost_usd = coalesce(l.cost_usd, e.cost_usd),
          attempts = case when l.attempts @> e.attempts then l.attempts
            else nullif(coalesce(l.attempts, '[]') || coalesce(e.attempts, '[]'), '[]') end,
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
      v_learned := v_learned || jsonb_build_object(e.id, case when send_id = e.id then '{}'
        else jsonb_build_object('sendId', send_id) end || case
        when e.outcome = 'deferred' and provider_message_id is not null
        then jsonb_build_object('status', 'sent', 'providerMessageId', provider_message_id)
        else '{}' end);
    end if;

    ordinal := e.ordinal;
    return next;
  end loop;

  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'a delivery event that came before its row');
  end if;

  if p_entries @? '$[*].settle ? (@ != null)' then
    for v_settle in
      select
        coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key_hash,
        x.key_tag,
        x.settle ->> 'owner' as owner,
        x.settle ->> 'state' as state,
        coalesce((x.settle ->> 'ambiguous')::boolean, false) as ambiguous,
        (x.settle -> 'result') || coalesce(v_learned -> x.id, '{}') as result
      from jsonb_to_recordset(p_entries) as x(id text, key_hash text, key_tag text, idempotency_key text, settle jsonb)
      where jsonb_typeof(x.settle) = 'object'
      order by key_hash
    loop
      if jsonb_typeof(v_settle.result) = 'object' then
        update email_send_claims c set
          state = n.state,
          ambiguous = c.ambiguous or v_settle.ambiguous,
          -- The claim may have been taken without its owner's hearing of it, and asked another provider than it names.
          provider = coalesce(v_settle.result ->> 'provider', c.provider),
          -- A key that is `ended` is never reported as certainly not delivered (S2).
          result = case
            when n.state = 'ended' and v_settle.result -> 'ok' = 'false'
              then v_settle.result || '{"status": "failed", "kind": "ambiguous"}'
            else v_settle.result
          end,
          last_attempt_at = case
            when n.state in ('accepted', 'refused') then least(c.last_attempt_at, clock_timestamp()) else c.last_attempt_at
          end,
          lease_until = null,
          updated_at = now()
        from (
          -- A caller that does not know of an earlier ambiguous attempt cannot free its key (S2).
          select x.key_hash, case when x.ambiguous and v_settle.state = 'refused' then 'ended' else v_settle.state end as state
          from email_send_claims x
          where x.key_hash = v_settle.key_hash and x.owner = v_settle.owner and x.lease_until is not null
            and (v_settle.key_tag is null or x.tag is not distinct from v_settle.key_tag)
          for update
        ) as n
        where c.key_hash = n.key_hash;
        continue when found;
      end if;
      update email_send_claims c set
        ambiguous = c.ambiguous or v_settle.ambiguous, lease_until = null, updated_at = now()
      where c.key_hash = v_settle.key_hash and c.owner = v_settle.owner and c.lease_until is not null;
    end loop;
  end if;
end
$$;
