-- The two functions that every mail waits for take what is ordinary in one statement: keys that nobody has claimed, rows
-- that are not there yet. Everything else goes entry by entry as before. Answers and the order of locks are the same.

-- See 0006. It looks up by key alone, whatever the tables' statistics say: its plan may be older than most of their rows.
create or replace function begin_email_sends(p_entries jsonb)
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, first_attempt_at float8, result jsonb, evidence text,
  suppressions jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  e record;
  c email_send_claims;
  v_now timestamptz;
  v_lease timestamptz;
  v_leased boolean;
  v_fresh boolean;
  v_since timestamptz;
  v_new bigint[];
begin
  -- Keys that neither a claim nor a row of the log knows are claimed, in the order of the loop below; the keys of other
  -- entries are locked at their place in it (the update that never happens), so that all callers lock in one order.
  -- Where a row of the log knows a key that no claim binds, nothing is claimed here.
  v_now := clock_timestamp();
  with entry as materialized (
    select distinct on (x.key_hash) x.*
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, payload_hash text, provider text, owner text, lease_ms float8
    )) with ordinality as x(key_hash, payload_hash, provider, owner, lease_ms, ord)
    order by x.key_hash, x.ord
  ), claimed as (
    insert into email_send_claims as c (
      key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at
    )
    select
      x.key_hash, x.payload_hash, 'held', x.provider, false, x.owner, v_now + make_interval(secs => x.lease_ms / 1000.0),
      v_now
    from entry x
    where not exists (
      select from entry y
      where exists (select from email_log l where l.key_hash = y.key_hash)
        and not exists (select from email_send_claims k where k.key_hash = y.key_hash)
    )
    order by x.key_hash
    on conflict (key_hash) do update set updated_at = c.updated_at where false
    returning c.key_hash
  )
  select array_agg(x.ord) into v_new from entry x where (x.key_hash in (select claimed.key_hash from claimed)) is true;

  if v_new is not null then
    return query
    select
      x.ord::integer, 'Claimed', null::text, false, (extract(epoch from v_now) * 1000)::float8, null::jsonb, null::text,
      coalesce(
        (
          select jsonb_agg(jsonb_build_object('email', s.email, 'reason', s.reason))
          from email_suppressions s
          where s.email = any (email_addresses(x.addresses))
        ),
        '[]'
      )
    from rows from (jsonb_to_recordset(p_entries) as (addresses jsonb)) with ordinality as x(addresses, ord)
    where x.ord = any (v_new);
    if cardinality(v_new) = jsonb_array_length(p_entries) then
      return;
    end if;
  end if;

  for e in
    select
      x.ord, x.key_hash, email_addresses(x.addresses) as addresses, x.payload_hash, x.provider, x.owner,
      make_interval(secs => x.lease_ms / 1000.0) as lease
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, ord)
    where v_new is null or x.ord <> all (v_new)
    order by x.key_hash, x.ord
  loop
    ordinal := e.ord;
    decision := 'Claimed';
    sticky := null;
    takeover := false;
    result := null;
    evidence := null;
    loop
      v_now := clock_timestamp();
      sticky := null;
      v_since := null;
      if not exists (select from email_send_claims x where x.key_hash = e.key_hash) then
        select t.provider, t.since into sticky, v_since from find_email_trail(e.key_hash) as t;
      end if;
      insert into email_send_claims (
        key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at
      ) values (
        e.key_hash, e.payload_hash, 'held', coalesce(sticky, e.provider), sticky is not null, e.owner, v_now + e.lease,
        coalesce(v_since, v_now)
      )
      on conflict (key_hash) do nothing;
      if found then
        takeover := sticky is not null;
        if takeover then
          evidence := find_email_evidence(e.key_hash, sticky);
        end if;
        first_attempt_at := extract(epoch from coalesce(v_since, v_now)) * 1000;
        exit;
      end if;

      sticky := null;
      select * into c from email_send_claims x where x.key_hash = e.key_hash for update;
      continue when not found; -- Purged since.
      v_now := clock_timestamp();
      v_lease := v_now + e.lease;
      v_leased := c.lease_until is not null and v_now < c.lease_until;
      first_attempt_at := extract(epoch from c.first_attempt_at) * 1000;

      if c.state = 'held' and c.owner = e.owner then
        sticky := case when c.ambiguous then c.provider end;
        takeover := c.ambiguous;
        if c.ambiguous then
          evidence := find_email_evidence(e.key_hash, c.provider);
        end if;
        update email_send_claims x set lease_until = v_lease, updated_at = now() where x.key_hash = e.key_hash;
        exit;
      end if;

      v_fresh := c.state = 'refused' or (not v_leased and v_now - c.first_attempt_at >= interval '24 hours');
      if v_fresh then
        v_since := null;
        if c.state = 'refused' then
          select t.provider, t.since into sticky, v_since from find_email_trail(e.key_hash) as t;
        end if;
        update email_send_claims x set
          payload_hash = e.payload_hash, state = 'held', provider = coalesce(sticky, e.provider),
          ambiguous = sticky is not null, owner = e.owner, lease_until = v_lease,
          first_attempt_at = coalesce(v_since, v_now), result = null, updated_at = now()
        where x.key_hash = e.key_hash;
        takeover := sticky is not null;
        if takeover then
          evidence := find_email_evidence(e.key_hash, sticky);
        end if;
        first_attempt_at := extract(epoch from coalesce(v_since, v_now)) * 1000;
        exit;
      end if;

      if c.payload_hash <> '' and c.payload_hash <> e.payload_hash then
        decision := 'Conflict';
        exit;
      end if;
      if c.result is not null and c.state in ('accepted', 'deferred') then
        decision := 'Replay';
        result := c.result;
        exit;
      end if;
      if v_leased then
        decision := 'InProgress';
        exit;
      end if;
      evidence := find_email_evidence(e.key_hash, c.provider);
      if evidence is null and c.provider <> 'provider_a' and c.result is not null then
        decision := 'Replay';
        result := c.result;
        exit;
      end if;
      sticky := c.provider;
      takeover := c.result is null;
      update email_send_claims x set
        payload_hash = e.payload_hash, state = 'held', ambiguous = true, owner = e.owner, lease_until = v_lease, result = null, updated_at = now()
      where x.key_hash = e.key_hash;
      exit;
    end loop;

    suppressions := case when decision = 'Claimed' then email_suppressions_of(e.addresses) else '[]' end;
    return next;
  end loop;
end
$$;

-- See 0004.
create or replace function record_email_sends(p_entries jsonb)
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
  v_new bigint[];
  v_ids uuid[];
  v_message_ids text[];
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
  elsif jsonb_array_length(p_entries) > 1 then
    -- Accepted sends of which no row is there yet are written, in the order of the loop below; rows that are there are
    -- locked at their place in it (the update that never happens), so that all writers lock in one order.
    begin
      with entry as materialized (
        select distinct on (x.provider collate "C", x.provider_message_id collate "C")
          x.*, email_addresses(x."to") as to_addresses, email_addresses(x.others) as other_addresses
        from rows from (jsonb_to_recordset(p_entries) as (
          id uuid, category text, source text, "from" text, "to" jsonb, others jsonb, subject text, outcome text,
          error text, error_kind text, failed_over boolean, cost_usd numeric, idempotency_key text, key_hash text,
          provider text, provider_message_id text
        )) with ordinality as x(
          id, category, source, "from", "to", others, subject, outcome,
          error, error_kind, failed_over, cost_usd, idempotency_key, key_hash,
          provider, provider_message_id, ord
        )
        where x.id is not null and x.outcome = 'sent' and x.category is not null and btrim(x."from") <> ''
          and x."to" is not null and x.others is not null and x.key_hash is not null and x.provider is not null
          and x.provider_message_id is not null
        order by x.provider collate "C", x.provider_message_id collate "C", x.id, x.ord
      ), written as (
        insert into email_log as l (
          id, category, source, from_address, to_addresses, other_addresses, recipient_count, subject, outcome, status,
          provider, provider_message_id, error, error_kind, failed_over, cost_usd, idempotency_key, key_hash
        )
        select
          x.id, x.category, x.source, email_bare_address(x."from"), x.to_addresses, x.other_addresses,
          email_distinct_count(x.to_addresses || x.other_addresses), x.subject, x.outcome, x.outcome, x.provider,
          x.provider_message_id, x.error, x.error_kind, coalesce(x.failed_over, false), x.cost_usd, x.idempotency_key,
          x.key_hash
        from entry x
        order by x.provider collate "C", x.provider_message_id collate "C", x.id, x.ord
        on conflict (provider, provider_message_id) do update set updated_at = l.updated_at where false
        returning l.provider, l.provider_message_id
      )
      select array_agg(x.ord), array_agg(x.id), array_agg(x.provider_message_id) into v_new, v_ids, v_message_ids
      from entry x
      -- `is true` keeps it a hashed look-up: the planner, which expects one entry, would join by nested loops.
      where ((x.provider, x.provider_message_id) in (table written)) is true;
    exception
      when unique_violation then null; -- An id that is there with another message id, or none: one by one, then.
    end;
  end if;

  if v_new is not null then
    return query
    select x.ord::integer, x.id, 'sent', x.provider_message_id
    from unnest(v_new, v_ids, v_message_ids) as x(ord, id, provider_message_id);
  end if;

  if v_new is null or cardinality(v_new) < jsonb_array_length(p_entries) then
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
      where v_new is null or x.ord <> all (v_new)
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
  end if;

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
