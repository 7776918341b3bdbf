-- Writes the rows of acceptances in the order in which rows are locked, and ends their claims. If one has a row already, nothing is written and
-- `ids` is null. A claim that its call holds without doubt ends here as `settle_email_claims` would end it; the entries of all others are
-- returned as `unsettled`. A step of `record_email_sends`. The settings: by the indexes alone, whatever the statistics say.
create or replace function write_new_sends(
  p_entries jsonb, out ordinals integer[], out ids uuid[], out messages text[], out unsettled jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_settles integer;
  v_ended integer[];
begin
  with e as materialized (
    select x.*, p_entries -> (x.ordinal - 1) -> 'settle' as settle
    from email_log_rows_of(p_entries) as x
    order by x.provider collate "C", x.provider_message_id collate "C"
  ), written as (
    insert into email_log (
      id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject,
      outcome, status, provider, provider_message_id, error, error_kind, failed_over, cost_usd, accepted_cost_usd,
      idempotency_key, key_hash, key_tag, retry_at, attempts, traceparent, tags
    )
    select
      e.id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses, e.dropped_addresses,
      email_distinct_count(e.to_addresses || e.other_addresses), e.subject,
      e.outcome, e.outcome, e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd,
      e.accepted_cost_usd, e.idempotency_key, e.key_hash, e.key_tag, e.retry_at, e.attempts, e.traceparent, e.tags
    from e
    returning 1
  ), ended as (
    -- The order of locks: after all rows, and by key.
    update email_send_claims c set
      state = 'accepted', provider = coalesce(e.settle #>> '{result,provider}', c.provider), result = e.settle -> 'result',
      last_attempt_at = least(c.last_attempt_at, clock_timestamp()), lease_until = null, updated_at = now()
    from (select x.* from e as x order by x.key_hash) as e
    where (select count(*) from written) > 0
      and c.key_hash = e.key_hash and c.owner = e.settle ->> 'owner' and c.state = 'held' and not c.ambiguous
      and c.lease_until is not null and coalesce(e.key_tag = c.tag, e.key_tag is null)
      and e.settle ->> 'state' = 'accepted' and e.settle -> 'ambiguous' is distinct from 'true'
      and jsonb_typeof(e.settle -> 'result') = 'object'
    returning e.ordinal
  )
  select
    array_agg(e.ordinal), array_agg(e.id), array_agg(e.provider_message_id), count(*) filter (where jsonb_typeof(e.settle) = 'object'),
    (select array_agg(d.ordinal) from ended d)
  into ordinals, ids, messages, v_settles, v_ended
  from e;
  if v_settles > coalesce(cardinality(v_ended), 0) then
    select jsonb_agg(x.entry order by x.place) into unsettled
    from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
    where x.place <> all (coalesce(v_ended, '{}'));
  end if;
exception
  -- Cheaper than `on conflict`, which searches every unique index before it writes: almost all rows are new.
  when unique_violation then ids := null;
end
$$;
