-- The addresses, those of people who were erased from the row as it has them.
create or replace function erased_names(p_addresses text[], p_row email_log) returns text[]
language sql
immutable
set search_path = pg_catalog, public, pg_temp
as $$
  select case when p_addresses is not null then array(
    select case when erased_alias(x.address) = any (p_row.to_addresses || p_row.other_addresses || p_row.dropped_addresses)
      then erased_alias(x.address) else x.address end
    from unnest(p_addresses) as x(address)
  ) end
$$;
