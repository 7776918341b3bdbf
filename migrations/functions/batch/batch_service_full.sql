-- The service has no room for another batch job: whatever is uploaded waits for its turn.
create or replace function batch_service_full() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update conversion_batch_jobs set full_at = clock_timestamp()
  where id in (
    select id from conversion_batch_jobs where state = 'preparing' and input_prefix is not null for no key update skip locked
  )
$$;
