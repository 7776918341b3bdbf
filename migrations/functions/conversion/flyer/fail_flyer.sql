-- A flyer did not succeed: it waits again; its last attempt fails it, free of charge. Without `p_max_attempts` the worker stops
-- and hands it back: the attempt does not count. Lock order: flyer job, customer, hold.
create or replace function fail_flyer(p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_status text;
begin
  perform book_costs(p_costs);
  update flyer_jobs set
    status = case when attempts >= p_max_attempts then 'failed' else 'pending' end, lease = null,
    error = coalesce(p_error, error), attempts = attempts - (p_max_attempts is null)::integer,
    updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning status into v_status;
  if not found then
    return 'stale';
  end if;
  if v_status = 'failed' then
    perform release_hold(p_id, 'failed');
  end if;
  return v_status;
end
$$;
