-- A job that another program moved to `assembling` is being assembled there, until it has been silent for as long as an
-- assembler that died: only then do workers claim it. The product's own move changes `updated_at`.
create or replace function assembled_elsewhere() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.lease := coalesce(new.lease, gen_random_uuid());
  new.heartbeat_at := clock_timestamp();
  return new;
end
$$;
