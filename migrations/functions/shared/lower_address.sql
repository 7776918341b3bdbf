-- A text with addresses in lower case, whatever the database's language: in a Turkish one `lower('I')` is no `i`.
create or replace function lower_address(p_text text) returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select lower(replace(p_text, 'I', 'i'))
$$;
