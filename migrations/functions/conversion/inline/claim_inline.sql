-- Claims a file of the next owner. Owners take turns, so that one owner's documents delay another's by at most one document (H3).
-- The same call again returns the same file. Lock order: turn, file. The owner's turn is locked before a file is claimed, so that
-- two workers never claim two files of one owner at once; it waits for no lock while it holds that one.
create or replace function claim_inline(p_lease uuid, p_stale interval)
returns table (
  id uuid, job_id uuid, name text, kind text, object_key text, attempts integer, options jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_owner uuid;
  v_file uuid;
  v_now timestamptz := clock_timestamp();
begin
  select f.id into v_file from files f
  where f.status = 'processing' and f.deleted_at is null and f.lease = p_lease
  for no key update skip locked;
  if v_file is null then
    for v_owner in select * from owners_of_inline_work(v_now, p_stale) loop
      insert into inline_turns (customer_id) values (v_owner) on conflict do nothing;
      perform from inline_turns t where t.customer_id = v_owner for update skip locked;
      continue when not found;
      continue when exists (
        select from files f
        where f.customer_id = v_owner and f.status = 'processing' and f.deleted_at is null
          and f.lease is not null and f.heartbeat_at >= v_now - p_stale
      );
      select f.id into v_file from files f
      where f.customer_id = v_owner and f.status = 'processing' and f.deleted_at is null
        and (f.lease is null or f.heartbeat_at < v_now - p_stale)
      order by f.updated_at
      limit 1
      for no key update skip locked;
      exit when v_file is not null;
    end loop;
  end if;
  return query
  update files f set
    lease = p_lease, heartbeat_at = clock_timestamp(), attempts = f.attempts + (f.lease is distinct from p_lease)::integer,
    claimed_at = case when f.lease is not distinct from p_lease then f.claimed_at else clock_timestamp() end, phase = 'Converting', updated_at = clock_timestamp()
  where f.id = v_file
  returning f.id, f.job_id, f.name, f.kind, f.object_key, f.attempts, f.options;
end
$$;
