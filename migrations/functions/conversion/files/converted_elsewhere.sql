-- The same of a file on the inline path; its conversion gets an id like any other. The product's own move changes `job_id`.
create or replace function converted_elsewhere() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.job_id := coalesce(new.job_id, gen_random_uuid());
  new.lease := gen_random_uuid();
  new.heartbeat_at := clock_timestamp();
  new.total := greatest(new.total, new.pages);
  return new;
end
$$;
