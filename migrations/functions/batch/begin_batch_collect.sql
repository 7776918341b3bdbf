-- A collect begins: returns which one it is. Null: the row is not `submitted` any more.
create or replace function begin_batch_collect(p_id uuid) returns integer
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update conversion_batch_jobs set attempts = attempts + 1 where id = p_id and state = 'submitted' returning attempts
$$;
