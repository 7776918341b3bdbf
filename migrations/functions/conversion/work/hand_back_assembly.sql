-- A worker that stops hands its assembly back.
create or replace function hand_back_assembly(p_id uuid, p_lease uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update large_conversion_jobs set lease = null, attempts = attempts - 1
  where id = p_id and lease = p_lease and status = 'assembling';
  return found;
end
$$;
