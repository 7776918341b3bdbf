-- The given addresses that belong to people who were erased since mail was asked for on the key (MAIL-66): its rows name them by a
-- hash. A key without a row – the log was away – is checked against the last day of the audit log. The planner settings: see
-- `email_suppressions_of`.
create or replace function email_erased_of(p_key_hash text, p_addresses text[]) returns text[]
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_named text[];
  -- A clock that is read in a condition keeps its index from being used.
  v_since timestamptz := clock_timestamp() - interval '24 hours';
begin
  -- Apart, so that the index of the key serves it: that of the times may hold the whole log.
  with mine as materialized (select y.* from email_log y where y.key_hash = p_key_hash)
  select array_agg(x.address) into v_named
  from mine l, unnest(l.to_addresses || l.other_addresses || l.dropped_addresses) as x(address)
  where l.created_at >= coalesce(
    (select c.first_attempt_at from email_send_claims c where c.key_hash = p_key_hash), '-infinity');
  return array(
    select distinct a.email from unnest(p_addresses) as a(email)
    where erased_alias(a.email) = any (v_named) or v_named is null and exists (
      select from admin_audit_log x
      where x.created_at > v_since and x.action = 'person_erased'
        and x.target = erased_alias(a.email)
    )
  );
end
$$;
