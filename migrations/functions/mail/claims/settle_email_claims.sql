-- Ends the claims that the owners in `settle` hold on their keys (see `begin_email_sends`, `begin_email_retry`), by the rules of
-- `settledClaim` in the domain: without `result` it only returns a retry's lease. The result is kept as the caller received it,
-- with what `p_learned` says of its entry: the row's id, and an acceptance that was proven; that of a retry of an earlier use is
-- not kept, nor is one after an acceptance that was reported already (`report_deferral_end`). Takes entries of `record_email_sends`. Locks claims in the order of their keys.
create or replace function settle_email_claims(p_entries jsonb, p_learned jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  e record;
begin
  for e in
    select
      coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key_hash,
      x.key_tag,
      x.settle ->> 'owner' as owner,
      x.settle ->> 'state' as state,
      coalesce((x.settle ->> 'ambiguous')::boolean, false) as ambiguous,
      x.settle -> 'isRetry' = 'true' as is_retry,
      (x.settle -> 'result') || coalesce(p_learned -> x.id, '{}') as result
    from jsonb_to_recordset(p_entries) as x(id text, key_hash text, key_tag text, idempotency_key text, settle jsonb)
    where jsonb_typeof(x.settle) = 'object'
    order by key_hash
  loop
    if jsonb_typeof(e.result) = 'object' then
      update email_send_claims c set
        state = n.state,
        ambiguous = c.ambiguous or e.ambiguous,
        -- The claim may have been taken without its owner's hearing of it, and asked another provider than it names.
        provider = case when n.torn then c.provider else coalesce(e.result ->> 'provider', c.provider) end,
        -- A key that is `ended` is never reported as certainly not delivered (S2).
        result = case
          when n.state = 'ended' and e.result -> 'ok' = 'false' then e.result || '{"status": "failed", "kind": "ambiguous"}'
          else e.result
        end,
        last_attempt_at = case
          when n.state in ('accepted', 'refused') then least(c.last_attempt_at, clock_timestamp()) else c.last_attempt_at
        end,
        lease_until = null,
        updated_at = now()
      from (
        -- A caller that does not know of an earlier ambiguous attempt cannot free its key, and one that asked another provider than
        -- the one in doubt ends it: no provider is asked from then on (S2). One that has ended stays so, but for a proof.
        select x.key_hash, t.torn,
          case
            when t.torn or (x.ambiguous and e.state = 'refused') or (x.state = 'ended' and e.state <> 'accepted') then 'ended' else e.state
          end as state
        from email_send_claims x
        cross join lateral (
          select x.ambiguous and e.state <> 'accepted' and coalesce(e.result ->> 'provider' <> x.provider, false) as torn
        ) as t
        where x.key_hash = e.key_hash and x.state <> 'accepted'
          -- An acceptance ends a deferral, also one that another call learned of: every later call hears of the same mail (S9). So does
          -- the last retry of it that began while this database was away, and holds nothing.
          and (
            (x.owner = e.owner and x.lease_until is not null)
            or (x.state = 'deferred' and x.lease_until is null
              and (e.state = 'accepted' or (e.is_retry and x.tag is not null)))
          )
          and (e.key_tag is null or x.tag is not distinct from e.key_tag)
        for update of x
      ) as n
      where c.key_hash = n.key_hash;
      continue when found;
    end if;
    update email_send_claims c set ambiguous = c.ambiguous or e.ambiguous, lease_until = null, updated_at = now()
    where c.key_hash = e.key_hash and c.owner = e.owner and c.lease_until is not null;
  end loop;
end
$$;
