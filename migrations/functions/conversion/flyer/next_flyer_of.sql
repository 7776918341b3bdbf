-- The next flyer job of an owner, locked: the oldest one that waits and that no other call has locked.
create or replace function next_flyer_of(p_customer_id uuid) returns uuid
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.id from flyer_jobs x
  where x.status = 'pending' and x.customer_id = p_customer_id
  order by x.created_at
  limit 1
  for no key update skip locked
$$;
