-- Links that show a result to whoever has them, and bulk orders with their one completion message.

-- The key of share links: kept here and nowhere else.
create table share_keys (
  id smallint primary key default 1 check (id = 1),
  key bytea not null check (octet_length(key) = 32),
  created_at timestamptz not null default now()
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into share_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

create table bulk_orders (
  id uuid primary key default gen_random_uuid(),
  customer_id uuid not null references customers (id),
  created_at timestamptz not null default clock_timestamp(),
  -- When its last item was seen to have ended; links in its message hold from then.
  ended_at timestamptz,
  -- Its message: somebody is sending it until then; how often that was begun; when it was done with.
  notifying_until timestamptz,
  attempts integer not null default 0,
  notified_at timestamptz
);

create index bulk_orders_open on bulk_orders (created_at) where notified_at is null;
create index bulk_orders_customer on bulk_orders (customer_id);

create table bulk_items (
  bulk_id uuid not null references bulk_orders (id) on delete cascade,
  place integer not null check (place >= 0),
  file_id uuid not null references files (id),
  job_id uuid not null unique,
  primary key (bulk_id, place)
);

create index bulk_items_file on bulk_items (file_id);

-- Asks for the conversions of a bulk order, all or none. An item: `{"jobId", "fileId", "options"}`. Answers `queued` (the
-- same call again too), or why not and for which file, as `request_conversion`.
create function request_bulk(p_bulk_id uuid, p_customer_id uuid, p_items jsonb, p_window interval)
returns table (answer text, file_id uuid)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  i record;
  v_answer text := 'queued';
  v_file uuid;
begin
  if exists (select from bulk_orders where id = p_bulk_id) then
    return query select 'queued', null::uuid;
    return;
  end if;
  -- Every file before any customer or hold, in one order, so that two orders of the same files cannot wait for each other.
  perform from files f
  where f.id in (select (x ->> 'fileId')::uuid from jsonb_array_elements(p_items) as x)
  order by f.id
  for no key update;
  begin
    insert into bulk_orders (id, customer_id) values (p_bulk_id, p_customer_id);
    for i in
      select (x.item ->> 'jobId')::uuid as job, (x.item ->> 'fileId')::uuid as file, x.item -> 'options' as options,
        x.place::integer - 1 as place
      from jsonb_array_elements(p_items) with ordinality as x(item, place)
      order by x.place
    loop
      v_file := i.file;
      v_answer := request_conversion(i.job, i.file, p_customer_id, i.options, p_window, p_bulk_id);
      if v_answer <> 'queued' then
        raise exception 'refused' using errcode = 'PL409';
      end if;
      insert into bulk_items (bulk_id, place, file_id, job_id) values (p_bulk_id, i.place, i.file, i.job);
    end loop;
  exception
    -- Nothing of it stays; the answer does.
    when sqlstate 'PL409' then null;
  end;
  return query select v_answer, case when v_answer <> 'queued' then v_file end;
end
$$;

-- How an item of a bulk order ended: `completed`, `failed` or `cancelled`; null while it is under way. Its hold tells it of
-- what is converted inline, which has no job.
create function bulk_outcome(p_file_id uuid, p_job_id uuid) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case
    when j.status in ('completed', 'failed', 'cancelled') then j.status
    when j.id is not null or exists (select from convert_queue q where q.job_id = p_job_id) then null
    when h.state = 'settled' then 'completed'
    when h.state = 'released' then case when h.outcome = 'cancelled' then 'cancelled' else 'failed' end
    when exists (
      select from files f where f.id = p_file_id and f.job_id = p_job_id and f.deleted_at is null
        and f.status in ('processing', 'chunked_processing')
    ) then null
    else 'failed'
  end
  from (select 1) as one
  left join large_conversion_jobs j on j.id = p_job_id
  left join funds_holds h on h.job_id = p_job_id
$$;

-- Claims the message of the oldest bulk order that has ended, for `p_lease`, and at each further claim for twice as long, up
-- to 64 times: a message that did not go out, or whose sender died, is claimed anew when that is over, `p_max_attempts`
-- times in all. No row where there is none.
create function claim_bulk_message(p_lease interval, p_max_attempts integer)
returns table (bulk_id uuid, email text, ended_at timestamptz, attempts integer, items jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  o bulk_orders;
begin
  select b.* into o from bulk_orders b
  where b.notified_at is null and b.attempts < p_max_attempts
    and (b.notifying_until is null or b.notifying_until <= clock_timestamp())
    and not exists (
      select from bulk_items i where i.bulk_id = b.id and bulk_outcome(i.file_id, i.job_id) is null
    )
  order by b.created_at
  limit 1
  for no key update of b skip locked;
  if not found then
    return;
  end if;
  update bulk_orders b set
    ended_at = coalesce(b.ended_at, clock_timestamp()), notifying_until = clock_timestamp() + p_lease * least(power(2, b.attempts), 64),
    attempts = b.attempts + 1
  where b.id = o.id
  returning b.* into o;
  return query
    select o.id, case when c.deleted_at is null then c.email end, o.ended_at, o.attempts, coalesce(l.items, '[]')
    from customers c
    left join lateral (
      select jsonb_agg(
        jsonb_build_object('fileId', i.file_id, 'fileName', f.name, 'outcome', bulk_outcome(i.file_id, i.job_id),
          'deleted', f.deleted_at is not null)
        order by i.place
      ) as items
      from bulk_items i join files f on f.id = i.file_id
      where i.bulk_id = o.id
    ) l on true
    where c.id = o.customer_id;
end
$$;

-- The message is done with: it went out, or it never will. True for the call that noted it.
create function confirm_bulk_message(p_bulk_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update bulk_orders set notified_at = clock_timestamp(), notifying_until = null
  where id = p_bulk_id and notified_at is null;
  return found;
end
$$;

select secure_table(t) from unnest(array['share_keys', 'bulk_orders', 'bulk_items']::regclass[]) as t;
select secure_function(f) from unnest(array[
  'request_bulk(uuid, uuid, jsonb, interval)', 'bulk_outcome(uuid, uuid)', 'claim_bulk_message(interval, integer)',
  'confirm_bulk_message(uuid)'
]::regprocedure[]) as f;
