-- A chunk takes its owner from its job, or from the job's file.
create or replace function chunk_knows_its_owner() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select coalesce(j.customer_id, f.customer_id) into new.customer_id
  from large_conversion_jobs j join files f on f.id = j.file_id
  where j.id = new.job_id;
  return new;
end
$$;
