-- The library's writer of the send log.

-- The bare lower-case address of `a@x.test` or `Name <A@x.test>`.
create function email_bare_address(p_address text) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return nullif(lower(btrim(case
    when position('<' in p_address) = 0 then p_address
    else coalesce(substring(p_address from '<([^<>]*)>\s*$'), p_address)
  end)), '');
end
$$;

-- The bare lower-case addresses of one address or a list of them, as JSON, in their order.
create function email_addresses(p_value jsonb) returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_plain text[];
  v_joined text;
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}';
      elsif jsonb_array_length(p_value) = 1 then
        v_plain := array[p_value ->> 0];
      else
        v_plain := array(select jsonb_array_elements_text(p_value));
      end if;
    when 'string' then v_plain := array[p_value #>> '{}'];
    else return '{}';
  end case;
  -- Postlane's own callers send them bare and in lower case.
  v_joined := array_to_string(v_plain, ',', '');
  if v_joined = lower(v_joined) and v_joined !~ '[<>\s]|(^|,)(,|$)' then
    return v_plain;
  end if;
  return array(
    select email_bare_address(x.address)
    from unnest(v_plain) with ordinality as x(address, position)
    where email_bare_address(x.address) is not null
    order by x.position
  );
end
$$;

create function email_distinct_count(p_addresses text[]) returns integer
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if coalesce(cardinality(p_addresses), 0) < 2 then
    return coalesce(cardinality(p_addresses), 0);
  end if;
  return (select count(distinct x.address) from unnest(p_addresses) as x(address));
end
$$;

-- The number of the transaction lock that orders an early event and a deferral of the same key and provider.
create function email_key_lock(p_provider text, p_key_hash text) returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return hashtextextended('postlane.email_key ' || p_provider || ' ' || p_key_hash, 0);
end
$$;

-- Adds automatic suppressions, each `reason:address`, in an order that all writers share.
create function add_email_suppressions(p_marks text[], p_note text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into email_suppressions (email, reason, note)
  select distinct
    substring(x.mark from position(':' in x.mark) + 1) as email,
    substring(x.mark for position(':' in x.mark) - 1) as reason,
    p_note
  from unnest(p_marks) as x(mark)
  order by email, reason
  on conflict (email, reason) do nothing;
end
$$;

-- Proof that a provider accepted an attempt on a key: the newest row of both that has a message id. A key that is used
-- anew after its 24 hours has a claim of its own; what is older than that claim's first attempt proves nothing about it.
create function find_email_evidence(p_key_hash text, p_provider text) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select l.provider_message_id
  from email_log l
  where l.key_hash = p_key_hash
    and l.provider = p_provider
    and l.provider_message_id is not null
    and l.created_at >= coalesce(
      (select c.first_attempt_at from email_send_claims c where c.key_hash = p_key_hash), '-infinity')
  order by l.created_at desc, l.id desc
  limit 1
$$;

-- Writes rows of the library, several in one call; `ordinal` counts the entries from 1. Keys of an entry:
--
--   id, category, source, from (or from_address), to (or to_addresses), others, subject, outcome (or status: sent,
--   deferred, suppressed, failed), error, error_kind, failed_over, cost_usd, idempotency_key, key_hash (else the SHA-256
--   hex of idempotency_key), provider, provider_message_id, settle { owner, state, ambiguous, result }.
--
-- One row an attempt, whichever writer comes first (L1). Idempotent on `id` and on (provider, provider_message_id): a row
-- that an event made is completed, keeps its id, and has the further of both statuses; a row that is complete is not
-- changed by the same entry again.
--
-- A `deferred` entry whose key has evidence on a row that only events wrote completes that row. Where the evidence
-- stands on another attempt's row, this attempt's row is written as it is, `deferred`: the key is settled by the other
-- row (D1 counts all rows of a key together), its retry ends without sending, and the end state is the one of the other
-- order, in which the event would have found both rows and moved one of them.
--
-- `settle` ends what its owner holds of the key (see `begin_email_sends`, `begin_email_retry`), and nobody else's: with
-- `result`, a held claim; without, a retry's lease. The result is kept as the caller was told it, with the row's own id.
--
-- Locks are taken in one order by all writers: keys, rows by (provider, provider_message_id), suppressions, claims.
create function record_email_sends(p_entries jsonb)
returns table (ordinal integer, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  e record;
  r email_log;
  v_found boolean;
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
      x.subject,
      coalesce(x.outcome, x.status) as outcome,
      x.error,
      x.error_kind,
      coalesce(x.failed_over, false) as failed_over,
      x.cost_usd,
      x.idempotency_key,
      coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key_hash,
      x.provider,
      x.provider_message_id,
      x.settle
    from rows from (jsonb_to_recordset(p_entries) as (
      id uuid, category text, source text, "from" text, from_address text, "to" jsonb, to_addresses jsonb,
      others jsonb, other_addresses jsonb, subject text, outcome text, status text, error text, error_kind text,
      failed_over boolean, cost_usd numeric, idempotency_key text, key_hash text, provider text,
      provider_message_id text, settle jsonb
    )) with ordinality as x(
      id, category, source, "from", from_address, "to", to_addresses,
      others, other_addresses, subject, outcome, status, error, error_kind,
      failed_over, cost_usd, idempotency_key, key_hash, provider,
      provider_message_id, settle, ord
    )
    order by x.provider collate "C" nulls last, x.provider_message_id collate "C" nulls last, x.id, x.ord
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

    if not v_found then
      insert into email_log as l (
        id, category, source, from_address, to_addresses, other_addresses, recipient_count, subject, outcome, status,
        provider, provider_message_id, error, error_kind, failed_over, cost_usd, idempotency_key, key_hash
      ) values (
        e.id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses,
        email_distinct_count(e.to_addresses || e.other_addresses), e.subject, e.outcome, e.outcome,
        e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd, e.idempotency_key,
        e.key_hash
      )
      on conflict do nothing
      returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      if not found then
        select * into r from email_log l
        where l.provider = e.provider and l.provider_message_id = e.provider_message_id
        for update;
        if not found then
          select * into strict r from email_log l where l.id = e.id for update;
        end if;
        v_found := true;
      end if;
    end if;

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
          recipient_count = email_distinct_count(e.to_addresses || e.other_addresses),
          subject = coalesce(e.subject, l.subject),
          outcome = e.outcome,
          status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
          error = coalesce(l.error, e.error),
          error_kind = e.error_kind,
          failed_over = e.failed_over,
          cost_usd = e.cost_usd,
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

-- Writes one row of the library: `record_email_sends` for one entry.
create function record_email_send(p_entry jsonb)
returns table (send_id uuid, status text, provider_message_id text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.send_id, x.status, x.provider_message_id from record_email_sends(jsonb_build_array(p_entry)) as x
$$;

select secure_function('email_bare_address(text)');
select secure_function('email_addresses(jsonb)');
select secure_function('email_distinct_count(text[])');
select secure_function('email_key_lock(text, text)');
select secure_function('add_email_suppressions(text[], text)');
select secure_function('find_email_evidence(text, text)');
select secure_function('record_email_sends(jsonb)');
select secure_function('record_email_send(jsonb)');
