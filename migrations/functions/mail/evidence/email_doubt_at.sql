-- Where a row has left the key open since `p_since`, other than at `p_provider` (null: anywhere); null where none has. A send without a claim
-- did, as a claim is held at one provider. The clock may have stepped back since, by less than what two uses of a key are apart. Called by all who are about to ask a provider on a key that is in doubt (S2).
create or replace function email_doubt_at(p_key_hash text, p_since timestamptz, p_provider text) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  -- Apart, so that the index of the key serves it: that of the times, which the order suggests, would be read up to the end.
  with mine as materialized (select l.* from email_log l where l.key_hash = p_key_hash)
  select l.provider from mine l
  where l.created_at >= p_since - interval '12 hours' and l.provider is not null and l.provider is distinct from p_provider
    -- Failed without an attempt: says nothing about acceptance.
    and (l.outcome = 'deferred' or (l.outcome = 'failed' and l.error_kind = 'ambiguous'
      and jsonb_array_length(coalesce(l.attempts, '[]')) > 0))
  order by l.created_at desc, l.id desc
  limit 1
$$;
