-- The conversion is alive. Lock order: file, customer, hold.
create or replace function heartbeat_inline(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  update files set heartbeat_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing' and deleted_at is null
  returning job_id into v_job;
  if not found then
    return false;
  end if;
  perform refresh_hold(v_job, p_window);
  return true;
end
$$;
