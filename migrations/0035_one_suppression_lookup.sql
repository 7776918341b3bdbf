-- Suppressions are looked up in one place, whichever path asks: a claimed key and a send without one read the list itself, and so
-- mailed who had been erased.

-- Suppressions of these addresses, those of erased people among them, as JSON: [{ "email", "reason" }]. The only reader of
-- both tables that decides about a send. It looks up by the indexes, whatever the statistics say (as in 0025).
create or replace function email_suppressions_of(p_addresses text[]) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  -- An SQL function would be planned anew for every send.
  return coalesce(
    (
      select jsonb_agg(jsonb_build_object('email', s.email, 'reason', s.reason))
      from (
        select x.email, x.reason from email_suppressions x where x.email = any (p_addresses)
        union
        select a.email, e.reason
        from unnest(p_addresses) as a(email) join erased_suppressions e on e.address_hash = address_hash(a.email)
      ) as s
    ),
    '[]'
  );
end
$$;

-- Adds automatic suppressions, each `reason:address`, in an order that all writers share. The row of an erased person's mail
-- names the hash of the address: that is what is kept of it.
create or replace function add_email_suppressions(p_marks text[], p_note text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into erased_suppressions (address_hash, reason)
  select distinct decode(substring(x.mark from ':erased:([0-9a-f]{64})$'), 'hex') as address_hash,
    substring(x.mark for position(':' in x.mark) - 1) as reason
  from unnest(p_marks) as x(mark)
  where x.mark ~ '^[a-z_]+:erased:[0-9a-f]{64}$'
  order by address_hash, reason
  on conflict do nothing;
  insert into email_suppressions (email, reason, note)
  select distinct
    substring(x.mark from position(':' in x.mark) + 1) as email,
    substring(x.mark for position(':' in x.mark) - 1) as reason,
    p_note
  from unnest(p_marks) as x(mark)
  where x.mark !~ '^[a-z_]+:erased:[0-9a-f]{64}$'
  order by email, reason
  on conflict (email, reason) do nothing;
end
$$;

-- See 0006 and 0025. It looks up by key alone, whatever the tables' statistics say: its plan may be older than most of their rows.
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
      email_suppressions_of(email_addresses(x.addresses))
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

select secure_function('email_suppressions_of(text[])');
select secure_function('add_email_suppressions(text[], text)');
select secure_function('begin_email_sends(jsonb)');
