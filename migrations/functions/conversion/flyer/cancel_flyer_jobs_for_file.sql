-- Ends the flyer jobs of a file and releases what was set aside for them. A running one loses its claim (DOC-42). Lock order:
-- flyer jobs, customer, hold.
create or replace function cancel_flyer_jobs_for_file(p_file_id uuid, p_error text) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    update flyer_jobs set status = 'failed', error = p_error, lease = null, updated_at = clock_timestamp()
    where file_id = p_file_id and status in ('pending', 'processing')
    returning id
  loop
    perform release_hold(v_id, 'cancelled');
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
