-- Owners with an inline conversion that waits and without one under way at `p_now`, eight at most, in the order of their turns (H3): by the
-- time up to which their earlier conversions count, then by their oldest file. Goes from owner to owner by the index, and reads the oldest
-- file of each alone: `between` and the orders leave one index to each look-up, whatever the statistics say. A step of `claim_inline`.
create or replace function owners_of_inline_work(p_now timestamptz, p_stale interval)
returns setof uuid
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return query
  with recursive owners as (
    (
      select f.customer_id from files f where f.status = 'processing' and f.deleted_at is null
      order by f.customer_id, f.updated_at limit 1
    )
    union all
    select (
      select f.customer_id from files f
      where f.status = 'processing' and f.deleted_at is null and f.customer_id > o.customer_id
      order by f.customer_id, f.updated_at limit 1
    )
    from owners o where o.customer_id is not null
  )
  select o.customer_id
  from owners o
  cross join lateral (
    select f.updated_at as oldest from files f
    where f.customer_id between o.customer_id and o.customer_id and f.status = 'processing' and f.deleted_at is null
    order by f.customer_id, f.updated_at limit 1
  ) w
  where (
    select true from files f
    where f.customer_id between o.customer_id and o.customer_id and f.status = 'processing' and f.lease is not null
      and f.deleted_at is null and f.heartbeat_at >= p_now - p_stale
    order by f.customer_id, f.lease limit 1
  ) is not true
  order by greatest((select t.busy_until from inline_turns t where t.customer_id = o.customer_id), p_now), w.oldest
  limit 8;
end
$$;
