-- A job takes its pages, and its customer, from its file.
create or replace function job_knows_its_file() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select f.pages, coalesce(new.customer_id, f.customer_id) into new.total_pages, new.customer_id
  from files f where f.id = new.file_id;
  new.total_pages := coalesce(new.total_pages, 0);
  return new;
end
$$;
