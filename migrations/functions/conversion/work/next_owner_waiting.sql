-- The first owner behind `p_owner`, in the order of ids, of whom work of a kind waits.
create or replace function next_owner_waiting(p_kind text, p_owner uuid default '00000000-0000-0000-0000-000000000000') returns uuid
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case p_kind
    when 'chunk' then (
      select c.customer_id from chunk_jobs c where c.status = 'pending' and c.customer_id > p_owner order by c.customer_id limit 1
    )
    when 'flyer' then (
      select x.customer_id from flyer_jobs x where x.status = 'pending' and x.customer_id > p_owner order by x.customer_id limit 1
    )
  end
$$;
