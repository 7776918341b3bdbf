-- What replaces the address of an erased person in rows that stay.
create or replace function erased_alias(p_email text) returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select 'erased:' || encode(address_hash(p_email), 'hex')
$$;
