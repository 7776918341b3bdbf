-- Suppressions of these addresses, those of erased people among them, and who unsubscribed (`unsubscribed`, MAIL-65), as JSON:
-- [{ "email", "reason" }], with "list" where only that list was left (MAIL-67). Every path that decides about a send reads the tables through this function (MAIL-60). The settings: one
-- plan for all calls, by the primary keys; with statistics from before the tables grew, each send would read all of
-- them. Called by `MailStore` and `IntakeStore`, and where a key is claimed.
create or replace function email_suppressions_of(p_addresses text[]) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_email text;
  v_hashes bytea[] := '{}';
  v_aliases text[] := '{}';
begin
  foreach v_email in array coalesce(p_addresses, '{}') loop
    v_hashes := v_hashes || address_hash(v_email);
    v_aliases := v_aliases || erased_alias(v_email);
  end loop;
  -- PL/pgSQL keeps the plan; an SQL function would be planned again for every send.
  return coalesce(
    (
      select jsonb_agg(distinct jsonb_strip_nulls(jsonb_build_object('email', s.email, 'reason', s.reason, 'list', s.list)))
      from (
        select x.email, x.reason, null as list from email_suppressions x where x.email = any (p_addresses)
        union all
        select p_addresses[array_position(v_hashes, x.address_hash)], x.reason, null
        from erased_suppressions x where x.address_hash = any (v_hashes)
        union all
        select coalesce(p_addresses[array_position(v_aliases, u.email)], u.email), 'unsubscribed', null
        from unsubscribes u where u.email = any (p_addresses || v_aliases)
        union all
        select coalesce(p_addresses[array_position(v_aliases, u.email)], u.email), 'unsubscribed', u.list
        from list_unsubscribes u where u.email = any (p_addresses || v_aliases)
      ) as s
    ),
    '[]'
  );
end
$$;
