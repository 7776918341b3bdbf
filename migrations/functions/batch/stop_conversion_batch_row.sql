-- The driver gives up on a batch job that has not ended: it is to be stopped, for this reason unless there is one.
create or replace function stop_conversion_batch_row(p_id uuid, p_reason text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update conversion_batch_jobs set close_reason = coalesce(close_reason, p_reason)
  where id = p_id and state = 'submitted';
  return found;
end
$$;
