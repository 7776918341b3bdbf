-- An inline conversion did not succeed: the file waits again; its last attempt fails it, free of charge. Without
-- `p_max_attempts` the worker stops and hands the file back: the attempt does not count. Lock order: file, customer, hold.
create or replace function fail_inline(p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  update files set
    status = case when attempts >= p_max_attempts then 'failed' else 'processing' end, lease = null,
    error = case when attempts >= p_max_attempts then p_error end,
    phase = case when attempts >= p_max_attempts then null else 'Queued' end,
    attempts = attempts - (p_max_attempts is null)::integer, updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing' and deleted_at is null
  returning * into f;
  if not found then
    return 'stale';
  end if;
  if f.status = 'failed' then
    perform release_hold(f.job_id, 'failed');
    return 'failed';
  end if;
  return 'pending';
end
$$;
