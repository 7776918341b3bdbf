-- A paid result stays until a newer one replaces it. A worker whose answer was lost asks again; by then the file may be converted
-- anew, which took the worker's lease from it. It was answered `stale` and removed the very result that the file shows.

-- As in 0019; a result that the file shows is one that was taken.
create or replace function finish_inline(p_file_id uuid, p_lease uuid, p_result_key text, p_costs jsonb) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  select * into f from files where id = p_file_id for no key update;
  if not found or f.deleted_at is not null then
    return 'stale';
  end if;
  if f.result_key = p_result_key then
    return 'completed';
  end if;
  if f.lease is distinct from p_lease or f.status <> 'processing' then
    return 'stale';
  end if;
  if settle_hold(f.job_id) = 'insufficient' then
    update files set
      status = 'failed', phase = null, error = 'Not enough credits were left when the result was ready',
      updated_at = clock_timestamp()
    where id = f.id;
    perform release_hold(f.job_id, 'failed');
    return 'insufficient';
  end if;
  update files set
    status = 'completed', result_key = p_result_key, phase = null, error = null, done = total,
    updated_at = clock_timestamp()
  where id = f.id;
  return 'completed';
end
$$;

select secure_function('finish_inline(uuid, uuid, text, jsonb)'::regprocedure);
