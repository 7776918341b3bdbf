-- Moves prospects forward to a status, in an order that all writers share; those that are not known yet are made.
create or replace function mark_prospects(p_emails text[], p_status text) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into prospects as p (email, status)
  select distinct lower_address(x.email), p_status from unnest(p_emails) as x(email) where x.email <> '' order by 1
  on conflict (email) do update set status = excluded.status, updated_at = now()
  where prospect_rank(excluded.status) > prospect_rank(p.status)
$$;
