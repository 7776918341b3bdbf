-- What is left of a row's error, which may quote the address or what a server says of its owner.
create or replace function error_without_person(p_error text) returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select case when p_error like 'Recipient suppressed: %' then p_error when p_error is not null then 'the person was erased' end
$$;
