-- A retry whose failure was written, but whose queue never heard so, comes back. If the database is away just then, a provider that
-- dedupes is asked again and may accept. That acceptance asked for a row that had ended otherwise, and was dropped with its message id:
-- the only proof of it, so that the next call on the key sent again. Such an acceptance has a row of its own now, as it has where its
-- delivery event comes first. Otherwise as in 0026.
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
        id, category, source, from_address, to_addresses, other_addresses, recipient_count, subject, outcome, status,
        provider, provider_message_id, error, error_kind, failed_over, cost_usd, idempotency_key, key_hash
      ) values (
        v_row_id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses,
        email_distinct_count(e.to_addresses || e.other_addresses), e.subject, e.outcome, e.outcome,
        e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd, e.idempotency_key,
        e.key_hash
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

select secure_function('record_email_sends(jsonb)');
