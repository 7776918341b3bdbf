-- Restores the count of used free pages for an erased person who comes back (DOC-30).
create or replace function recall_free_pages() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select greatest(new.lifetime_free_pages_used, max(c.lifetime_free_pages_used)) into new.lifetime_free_pages_used
  from customers c
  -- What begins with the alias and a colon, by the index of erased people.
  where c.email like 'erased:%' and c.email ~>=~ (erased_alias(new.email) || ':') and c.email ~<~ (erased_alias(new.email) || ';');
  return new;
end
$$;
