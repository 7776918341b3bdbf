-- Deletes a file of an account that was closed; one a call, so that no two jobs are locked at once. Returns how many. Called
-- by the leader's upkeep.
create or replace function delete_file_of_closed_account(p_reasons jsonb default '{}') returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f record;
begin
  for f in
    select x.id, x.customer_id from files x
    join customers c on c.id = x.customer_id
    where x.deleted_at is null and c.deleted_at is not null
    order by random()
    limit 1
  loop
    return case when delete_file(f.id, f.customer_id, p_reasons) = 'deleted' then 1 else 0 end;
  end loop;
  return 0;
end
$$;
