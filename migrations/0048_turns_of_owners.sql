-- Word documents and pictures are converted in turns between their owners, not oldest first: one owner's documents, however many and
-- however long each takes, hold up another's by one at most. What a conversion takes counts, whether or not it succeeds.

-- When this attempt began.
alter table files add column claimed_at timestamptz;

-- Up to when an owner has used up their share: owners who are not go first.
create table inline_turns (
  customer_id uuid primary key references customers (id) on delete cascade,
  busy_until timestamptz not null default '-infinity'
);

select secure_table('inline_turns');

-- As in 0027, but for the turns. The owner's row is locked before one of their files is taken, so that two workers never take two files
-- of one owner at once; it waits for no lock while it holds that one.
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
    insert into inline_turns (customer_id)
    select distinct f.customer_id from files f where f.status = 'processing' and f.deleted_at is null
    on conflict do nothing;
    for v_owner in
      select t.customer_id from inline_turns t
      join lateral (
        select min(f.updated_at) as oldest from files f
        where f.customer_id = t.customer_id and f.status = 'processing' and f.deleted_at is null
        having bool_and(f.lease is null or f.heartbeat_at < v_now - p_stale)
      ) w on true
      order by greatest(t.busy_until, v_now), w.oldest
      limit 8
    loop
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
    lease = p_lease, heartbeat_at = clock_timestamp(), claimed_at = clock_timestamp(), attempts = f.attempts + 1,
    phase = 'Converting', updated_at = clock_timestamp()
  where f.id = v_file
  returning f.id, f.job_id, f.name, f.kind, f.object_key, f.attempts, f.options;
end
$$;

-- Counts what an attempt has taken against its owner, however it ended: told, deleted, or taken over from a worker that died. One
-- that brought no result counts for more.
create function inline_turn_ended() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_taken interval := least(v_now - old.claimed_at, interval '10 minutes')
    + case when new.status = 'completed' then interval '0' else interval '30 seconds' end;
begin
  insert into inline_turns as t (customer_id, busy_until) values (old.customer_id, v_now + v_taken)
  on conflict (customer_id) do update set busy_until = greatest(t.busy_until, v_now) + v_taken;
  return null;
end
$$;

create trigger files_inline_turn after update on files
for each row when (
  old.status = 'processing' and old.claimed_at is not null and old.lease is not null and (
    new.status <> 'processing' or new.lease is distinct from old.lease or new.deleted_at is distinct from old.deleted_at
  )
)
execute function inline_turn_ended();

select secure_function(f) from unnest(array[
  'claim_inline(uuid, interval)', 'inline_turn_ended()'
]::regprocedure[]) as f;
