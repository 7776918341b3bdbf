-- Claims on keys that callers chose, and leases of retries (contract, "the relay is safe to call again").

-- Suppressions of these addresses, as JSON: [{ "email", "reason" }].
create function email_suppressions_of(p_addresses text[]) returns jsonb
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object('email', s.email, 'reason', s.reason)), '[]')
  from email_suppressions s
  where s.email = any (p_addresses)
$$;

-- What the log knows of a key that no claim binds (a call that found no claim store left its rows only): the provider of
-- the newest row of the last 24 hours that proves acceptance, else of the newest that leaves it open, and how old they
-- are; nulls where there is none.
create function find_email_trail(p_key_hash text) returns table (provider text, since timestamptz)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select
    (array_agg(l.provider order by l.provider_message_id is not null desc, l.created_at desc, l.id desc))[1],
    min(l.created_at)
  from email_log l
  where l.key_hash = p_key_hash and l.provider is not null
    and l.created_at > clock_timestamp() - interval '24 hours'
    and (l.provider_message_id is not null or l.status = 'deferred'
      or (l.status = 'failed' and l.error_kind = 'ambiguous'))
$$;

-- Claims keys and looks up suppressions, several in one call; `ordinal` counts the entries from 1. Keys of an entry:
-- key_hash, addresses, payload_hash, provider, owner (unique to the call), lease_ms.
--
-- `decision` is what `decideClaim` says, taken under the key's row lock and by this clock:
--   Claimed     the key is held for the owner; `sticky` is the only provider that may see it, `takeover` that an attempt
--               on it left no result, `first_attempt_at` (milliseconds of the epoch) when its first attempt began,
--               `evidence` a message id that proves that `sticky` accepted an earlier attempt.
--   Replay      `result` is the first call's.
--   Conflict, InProgress
-- The same owner asking again (its first answer was lost) is answered `Claimed` again.
create function begin_email_sends(p_entries jsonb)
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, first_attempt_at float8, result jsonb, evidence text,
  suppressions jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
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
begin
  for e in
    select
      x.ord, x.key_hash, email_addresses(x.addresses) as addresses, x.payload_hash, x.provider, x.owner,
      make_interval(secs => x.lease_ms / 1000.0) as lease
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, ord)
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

-- Notes that the call that holds a claim goes to another provider now; false where it holds it no more.
create function move_email_claim(p_key_hash text, p_owner text, p_provider text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update email_send_claims set provider = p_provider, updated_at = now()
  where key_hash = p_key_hash and owner = p_owner and state = 'held';
  return found;
end
$$;

-- Asks whether a queued retry may go out. Keys of the entry: key_hash, provider, row_id, addresses, owner, lease_ms.
--   Recorded  its row is there: its outcome was recorded before its message came back.
--   Settled   `evidence` is the message id of an accepted attempt.
--   Busy      another owner's lease on the key is alive.
--   Go        the key is leased to the asker (again, where it asked before).
create function begin_email_retry(p_entry jsonb)
returns table (decision text, evidence text, suppressions jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  c email_send_claims;
  v_key text := p_entry ->> 'key_hash';
  v_row_id uuid := (p_entry ->> 'row_id')::uuid;
  v_provider text := p_entry ->> 'provider';
  v_owner text := p_entry ->> 'owner';
begin
  suppressions := '[]';
  if exists (select from email_log l where l.id = v_row_id)
    or exists (select from email_log l where l.entry_id = v_row_id)
  then
    decision := 'Recorded';
    return next;
    return;
  end if;
  loop
    select * into c from email_send_claims x where x.key_hash = v_key for update;
    exit when found;
    -- Without a claim of the first call (its key was made by the library, or the database was away), every row of the
    -- key counts, and any payload fits.
    insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at)
    values (
      v_key, '', 'deferred', v_provider, true, v_owner,
      coalesce((select min(l.created_at) from email_log l where l.key_hash = v_key), clock_timestamp())
    )
    on conflict (key_hash) do nothing;
  end loop;

  evidence := find_email_evidence(v_key, v_provider);
  if evidence is not null then
    decision := 'Settled';
  elsif c.lease_until > clock_timestamp() and c.owner <> v_owner then
    decision := 'Busy';
  else
    decision := 'Go';
    update email_send_claims x set
      owner = v_owner,
      lease_until = clock_timestamp() + make_interval(secs => (p_entry ->> 'lease_ms')::float8 / 1000.0),
      updated_at = now()
    where x.key_hash = v_key;
    suppressions := email_suppressions_of(email_addresses(p_entry -> 'addresses'));
  end if;
  return next;
end
$$;

-- Drops claims that mean nothing any more: 24 hours old, nobody working on them. Answers how many; call again while it
-- answers `p_limit`.
create function purge_email_claims(p_limit integer default 10000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_count integer;
begin
  delete from email_send_claims c using (
    select x.key_hash from email_send_claims x
    where x.first_attempt_at < now() - interval '24 hours' and (x.lease_until is null or x.lease_until < now())
    limit p_limit
    for update skip locked
  ) as old
  where c.key_hash = old.key_hash;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

select secure_function('email_suppressions_of(text[])');
select secure_function('find_email_trail(text)');
select secure_function('begin_email_sends(jsonb)');
select secure_function('move_email_claim(text, text, text)');
select secure_function('begin_email_retry(jsonb)');
select secure_function('purge_email_claims(integer)');
