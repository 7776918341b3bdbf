-- Claims keys and looks up suppressions, several in one call (MAIL-1, MAIL-41 to MAIL-43); `ordinal` counts the entries
-- from 1. Called by `MailStore`. Keys of an entry: key_hash, addresses, payload_hash, provider, owner (unique to the call),
-- lease_ms, tag (of the key's first use; made here where it is absent), known (what the calling process remembers of the key).
--
-- `decision` is that of `decideClaim` in the domain, taken under the key's row lock and by this clock:
--   Claimed     the key is held for the owner; `sticky` is the only provider that may see it, `takeover` that an attempt
--               on it left no result, `late` that its first attempt, at `first_attempt_at` (milliseconds of the epoch), is 24 hours
--               old, `tag` what its requests carry, `evidence` { provider, providerMessageId } that an earlier attempt was accepted.
--               `last_attempt_at` is the last attempt before this call's: it stays that where nobody is asked (`late`, `evidence`).
--   Replay      `result` is the first call's.
--   Conflict, InProgress
-- The same owner asking again (its first answer was lost) is answered `Claimed` again.
--
-- `leaving`: the claim says already that the request leaves. It does so where the look-up found no suppression, since nothing then
-- keeps the request in the process; else `move_email_claim` says it.
--
-- Locks claims in the order of their keys. It looks up by key alone, whatever the tables' statistics say: its plan may be
-- older than most of their rows.
create or replace function begin_email_sends(p_entries jsonb)
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, late boolean, first_attempt_at float8, last_attempt_at float8, tag text, result jsonb,
  evidence jsonb, leaving boolean, suppressions jsonb
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
  c email_send_claims;
  v_now timestamptz;
  v_lease timestamptz;
  v_leased boolean;
  v_expired boolean;
  v_since timestamptz;
  v_last timestamptz;
  v_before timestamptz;
  v_owned boolean;
  v_new bigint[];
  v_all jsonb;
begin
  -- One look-up for all of them: few batches hold an address that is suppressed.
  v_all := email_suppressions_of(
    array(select unnest(email_addresses(x.addresses)) from jsonb_to_recordset(p_entries) as x(addresses jsonb)));
  -- Keys that neither a claim nor a row of the log nor the calling process knows are claimed, in the order of the loop below; the
  -- keys of other entries are locked at their place in it (the update that never happens), so that all callers lock in one order.
  -- Where a row of the log knows a key that no claim binds, nothing is claimed here.
  v_now := clock_timestamp();
  with entry as materialized (
    select distinct on (x.key_hash) x.*
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord)
    order by x.key_hash, x.ord
  ), claimed as (
    insert into email_send_claims as c (
      key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
    )
    select
      x.key_hash, x.payload_hash, 'held', x.provider, false,
      v_all = '[]' or email_suppressions_of(email_addresses(x.addresses)) = '[]',
      x.owner, v_now + make_interval(secs => x.lease_ms / 1000.0), v_now,
      v_now + make_interval(secs => x.lease_ms / 1000.0), coalesce(x.tag, email_use_tag(x.key_hash, 'first'))
    from entry x
    where not exists (
      select from entry y
      -- Not `exists`, which would be made a join: with statistics from before there were keys it reads the log's whole index.
      where (y.known is not null or (select true from email_log l where l.key_hash = y.key_hash limit 1))
        and (select true from email_send_claims k where k.key_hash = y.key_hash) is null
    )
    order by x.key_hash
    on conflict (key_hash) do update set updated_at = c.updated_at where false
    returning c.key_hash
  )
  select array_agg(x.ord) into v_new from entry x where (x.key_hash in (select claimed.key_hash from claimed)) is true;

  if v_new is not null then
    return query
    select
      x.ord::integer, 'Claimed', null::text, false, false, (extract(epoch from v_now) * 1000)::float8, (extract(epoch from v_now) * 1000)::float8,
      coalesce(x.tag, email_use_tag(x.key_hash, 'first')), null::jsonb, null::jsonb, s.found = '[]', s.found
    from rows from (jsonb_to_recordset(p_entries) as (key_hash text, tag text, addresses jsonb))
      with ordinality as x(key_hash, tag, addresses, ord),
      lateral (select case v_all when '[]' then v_all else email_suppressions_of(email_addresses(x.addresses)) end) as s(found)
    where x.ord = any (v_new);
    if cardinality(v_new) = jsonb_array_length(p_entries) then
      return;
    end if;
  end if;

  for e in
    select
      x.ord, x.key_hash, x.payload_hash, x.provider, x.owner, make_interval(secs => x.lease_ms / 1000.0) as lease,
      coalesce(x.tag, email_use_tag(x.key_hash, 'first')) as tag, x.known,
      case v_all when '[]' then v_all else email_suppressions_of(email_addresses(x.addresses)) end as suppressions
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord)
    where v_new is null or x.ord <> all (v_new)
    order by x.key_hash, x.ord
  loop
    ordinal := e.ord;
    loop
      decision := 'Claimed';
      sticky := null;
      takeover := false;
      late := false;
      result := null;
      evidence := null;
      tag := e.tag;
      leaving := e.suppressions = '[]';
      v_since := null;
      v_before := null;
      v_owned := false;
      v_now := clock_timestamp();
      if not exists (select from email_send_claims x where x.key_hash = e.key_hash) then
        select t.provider, t.since, t.last, t.tag into sticky, v_since, v_before, tag from find_email_trail(e.key_hash, e.known) as t;
        if not found then
          -- Of the refusals of the last 24 hours, as long as nothing was accepted; else of a use of its own, where the key was used.
          select l.key_tag into tag from email_log l
          where l.key_hash = e.key_hash and l.outcome is not null
            and l.created_at > clock_timestamp() - interval '24 hours'
          order by l.created_at desc, l.id desc
          limit 1;
          if tag is null then
            tag := case when exists (select from email_log l where l.key_hash = e.key_hash)
              then email_use_tag(e.key_hash, e.owner) else e.tag end;
          end if;
        end if;
      end if;
      takeover := sticky is not null;
      late := coalesce(v_now - v_since >= interval '24 hours', false);
      insert into email_send_claims (
        key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
      ) values (
        e.key_hash, e.payload_hash, 'held', coalesce(sticky, e.provider), takeover, leaving, e.owner, v_now + e.lease,
        coalesce(v_since, v_now), case when late or sticky <> 'provider_a' then coalesce(v_before, v_now) else v_now + e.lease end, tag
      )
      on conflict (key_hash) do nothing;
      if found then
        v_before := coalesce(v_before, v_now);
        first_attempt_at := extract(epoch from coalesce(v_since, v_now)) * 1000;
        exit;
      end if;

      select * into c from email_send_claims x where x.key_hash = e.key_hash for update;
      continue when not found; -- Purged since.
      v_now := clock_timestamp();
      v_lease := v_now + e.lease;
      v_leased := coalesce(v_now < c.lease_until, false);
      sticky := null;
      takeover := false;
      tag := c.tag;
      late := v_now - c.first_attempt_at >= interval '24 hours';
      v_before := c.last_attempt_at;
      v_last := case when late then c.last_attempt_at else v_lease end;
      first_attempt_at := extract(epoch from c.first_attempt_at) * 1000;

      if c.state = 'held' and c.owner = e.owner then
        sticky := case when c.ambiguous then c.provider end;
        takeover := c.ambiguous;
        leaving := c.leaving;
        v_owned := true;
        update email_send_claims x set lease_until = v_lease, last_attempt_at = v_last, updated_at = now()
        where x.key_hash = e.key_hash;
        exit;
      end if;

      -- `isFree` in the domain.
      if c.state = 'refused' or (not v_leased and (v_now - c.last_attempt_at >= interval '24 hours'
        or (c.state = 'held' and not c.leaving and not c.ambiguous)))
      then
        v_since := null;
        v_before := null;
        v_expired := not v_leased and v_now - c.last_attempt_at >= interval '24 hours';
        select t.provider, t.since, t.last, t.tag into sticky, v_since, v_before, tag from find_email_trail(e.key_hash, e.known) as t;
        if not found and not v_expired then
          -- No mail carries the tag of a use of which nothing was accepted: it goes on to be the key's. What has evidence all the same
          -- was sent under that tag by a call that found no claim store.
          tag := coalesce(c.tag, email_use_tag(e.key_hash, e.owner));
          select x.provider, c.first_attempt_at, c.last_attempt_at into sticky, v_since, v_before
          from find_email_evidence(e.key_hash, c.tag) as x;
          if found then
            tag := c.tag;
          end if;
        elsif sticky is null then
          tag := email_use_tag(e.key_hash, e.owner);
        end if;
        takeover := sticky is not null;
        late := coalesce(v_now - v_since >= interval '24 hours', false);
        v_before := coalesce(v_before, v_now);
        update email_send_claims x set
          payload_hash = e.payload_hash, state = 'held', provider = coalesce(sticky, e.provider),
          ambiguous = takeover, leaving = e.suppressions = '[]', owner = e.owner, lease_until = v_lease,
          first_attempt_at = coalesce(v_since, v_now),
          last_attempt_at = case when late or sticky <> 'provider_a' then v_before else v_lease end,
          tag = begin_email_sends.tag, result = null, updated_at = now()
        where x.key_hash = e.key_hash;
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
      if c.result is not null and (c.state = 'ended' or c.provider <> 'provider_a' or late)
        and not exists (select from find_email_evidence(e.key_hash, c.tag))
      then
        decision := 'Replay';
        result := c.result;
        exit;
      end if;
      sticky := c.provider;
      takeover := c.result is null;
      update email_send_claims x set
        payload_hash = e.payload_hash, state = 'held', ambiguous = true, leaving = e.suppressions = '[]', owner = e.owner,
        lease_until = v_lease, result = null, updated_at = now(),
        -- Where it is deferred nobody is asked now (`continuation` in the domain).
        last_attempt_at = case when takeover and c.provider <> 'provider_a' then c.last_attempt_at else v_last end
      where x.key_hash = e.key_hash;
      exit;
    end loop;

    last_attempt_at := extract(epoch from v_before) * 1000;
    if decision = 'Claimed' then
      suppressions := e.suppressions;
      if sticky is not null then
        select jsonb_build_object('provider', x.provider, 'providerMessageId', x.provider_message_id) into evidence
        from find_email_evidence(e.key_hash, tag) as x;
        if not v_owned and (evidence is not null or (e.known -> 'isSettled')::boolean) then
          update email_send_claims x set last_attempt_at = v_before where x.key_hash = e.key_hash;
        end if;
      end if;
    else
      suppressions := '[]';
      sticky := null;
      takeover := false;
      leaving := false;
    end if;
    return next;
  end loop;
end
$$;
