-- The flyer is alive. Lock order: flyer job, customer, hold.
create or replace function heartbeat_flyer(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update flyer_jobs set heartbeat_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing';
  if not found then
    return false;
  end if;
  perform refresh_hold(p_id, p_window);
  return true;
end
$$;
