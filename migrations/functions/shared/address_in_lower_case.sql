-- Mail addresses are kept in lower case (ASCII, as everywhere), however a row was written by hand. Postlane's own
-- statements write them so, and the triggers pass them by.
create or replace function address_in_lower_case() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.email := lower(trim_address(new.email) collate "C");
  return new;
end
$$;
