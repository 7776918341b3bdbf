-- Ends the claims that the owners in `settle` hold on their keys (see `begin_email_sends`, `begin_email_retry`), by the rules of
-- `settledClaim` in the domain: without `result` it only returns a retry's lease. The result is kept as the caller received it,
-- with what `p_learned` says of its entry: the row's id, and an acceptance that was proven; that of a retry of an earlier use is
-- not kept, nor is one after an acceptance that was reported already (`report_deferral_end`). Takes entries of `record_email_sends`;
-- of several on one key, each finds what the ones before it left.
--
-- Locks claims in the order of their keys: by their index, or as the entries are sorted. The settings: by the index alone, whatever the
-- statistics say.
create or replace function settle_email_claims(p_entries jsonb, p_learned jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_turn integer := 0; v_turns integer;
begin
  loop
    v_turn := v_turn + 1;
    with y as (
      select x.*, coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key
      from rows from (jsonb_to_recordset(p_entries) as (id text, key_hash text, key_tag text, idempotency_key text, settle jsonb))
        with ordinality as x(id, key_hash, key_tag, idempotency_key, settle, ord)
      where jsonb_typeof(x.settle) = 'object'
    ), e as materialized (
      select
        y.key, y.key_tag, y.settle ->> 'owner' as owner, y.settle ->> 'state' as state, y.settle ->> 'after' as after, y.settle -> 'isRetry' = 'true' as is_retry,
        coalesce((y.settle ->> 'ambiguous')::boolean, false) as ambiguous,
        case jsonb_typeof(y.settle -> 'result') when 'object' then (y.settle -> 'result') || coalesce(p_learned -> y.id, '{}') end as result,
        row_number() over (partition by y.key order by y.ord) as turn
      from y
    ), settled as (
      update email_send_claims c set
        (state, provider, ambiguous, result, last_attempt_at, lease_until, updated_at) = (
          select
            case when b.ends and not b.is_held then s.state else c.state end,
            -- The claim may have been taken without its owner's hearing of it, and asked another provider than it names.
            case when not b.ends or b.torn or b.is_held then c.provider else coalesce(e.result ->> 'provider', c.provider) end,
            c.ambiguous or (e.ambiguous and not b.is_held),
            case
              when not b.ends then c.result
              -- A key that is `ended` is never reported as certainly not delivered (S2).
              when (s.state = 'ended' or b.is_held) and s.result -> 'ok' = 'false' then s.result || '{"status": "failed", "kind": "ambiguous"}'
              else s.result
            end,
            case when b.ends and s.state in ('accepted', 'refused') then least(c.last_attempt_at, clock_timestamp()) else c.last_attempt_at end,
            case when b.is_held then c.lease_until end, now()
          from (
            select
              e.result is not null and c.state <> 'accepted' and (e.key_tag is null or c.tag is not distinct from e.key_tag) as ends,
              c.ambiguous and e.state <> 'accepted' and coalesce(e.result ->> 'provider' <> c.provider, false) as torn,
              c.owner <> e.owner and c.state = 'held' and coalesce(c.lease_until > clock_timestamp(), false) as is_held,
              case when c.state = 'held' and e.state = 'deferred' and c.result ->> 'sendId' is distinct from e.after then c.result end as ended_before
          ) as b
          -- A caller that does not know of an earlier ambiguous attempt cannot free its key, and one that asked another provider than
          -- the one in doubt ends it: no provider is asked from then on (S2). One that has ended stays so, but for a proof. If the
          -- retries of a deferral ended before it, no other retry follows: they are one chain with those of the call before.
          cross join lateral (
            select coalesce(b.ended_before, e.result) as result, case
              when b.torn or (c.ambiguous and e.state = 'refused') or (c.state = 'ended' and e.state <> 'accepted') then 'ended'
              when b.ended_before is not null then 'ambiguous'
              else e.state
            end as state
          ) as s
        )
      from e
      where c.key_hash = any (array(select x.key from e as x)) and c.key_hash = e.key and e.turn = v_turn
        and ((c.owner = e.owner and c.lease_until is not null)
          or (e.result is not null and (e.key_tag is null or c.tag is not distinct from e.key_tag) and email_claim_is_over(c, e.state, e.is_retry)))
    )
    select coalesce(max(e.turn), 0) into v_turns from e;
    exit when v_turn >= v_turns;
  end loop;
end
$$;
