-- Whether these are rights, and at least one. Equals `Right` in the domain.
create or replace function are_rights(p_rights text[]) returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select p_rights <@ array['admin', 'admin:read', 'owner'] and cardinality(p_rights) > 0
$$;
