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
begin
  -- PL/pgSQL keeps the plan; an SQL function would be planned again for every send.
  return coalesce(
    (
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('email', s.email, 'reason', s.reason, 'list', s.list)))
      from (
        select x.email, x.reason, null as list from email_suppressions x where x.email = any (p_addresses)
        union
        select a.email, e.reason, null
        from unnest(p_addresses) as a(email)
        -- `offset 0`: a look-up for each address, whatever the statistics say.
        cross join lateral (select x.reason from erased_suppressions x where x.address_hash = address_hash(a.email) offset 0) as e
        union
        select a.email, 'unsubscribed', null
        from unnest(p_addresses) as a(email) join unsubscribes u on u.email in (a.email, erased_alias(a.email))
        union
        select a.email, 'unsubscribed', l.list
        from unnest(p_addresses) as a(email) join list_unsubscribes l on l.email in (a.email, erased_alias(a.email))
      ) as s
    ),
    '[]'
  );
end
$$;
