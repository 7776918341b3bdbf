-- The batch lane moves on whatever the batch service says: nothing waits in it for ever, and nothing holds up what stands behind it.
-- Model and price stand with a row from when its records are uploaded: its batch job is made for that model and billed at that price.

alter table conversion_batch_jobs
  add column input_usd_per_mtok numeric,
  add column output_usd_per_mtok numeric;

-- As in 0020, and what the records were made for. Without a price, today's counts.
drop function batch_records_uploaded(uuid, uuid, text, integer, integer, bigint);
create function batch_records_uploaded(
  p_id uuid, p_lease uuid, p_input_prefix text, p_records integer, p_shards integer, p_bytes bigint, p_model text default null,
  p_input_usd_per_mtok numeric default null, p_output_usd_per_mtok numeric default null
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update conversion_batch_jobs set
    input_prefix = p_input_prefix, records = p_records, shards = p_shards, input_bytes = p_bytes,
    model = coalesce(p_model, model), input_usd_per_mtok = p_input_usd_per_mtok, output_usd_per_mtok = p_output_usd_per_mtok,
    uploaded_at = clock_timestamp()
  where id = p_id and state = 'preparing' and lease = p_lease;
  return found;
end
$$;

-- As in 0020, from one place of `p_take`: `open` are rows that somebody left `preparing`, longest ago first, `parked` is the oldest
-- job without a row, and null takes the first of both. `abandoned`: its job waited for `p_give_up`, and that is a day ago.
drop function claim_conversion_batch(uuid, uuid, bigint, text, interval, interval);
create function claim_conversion_batch(
  p_lease uuid, p_preparer uuid, p_term bigint, p_model text, p_stuck interval, p_window interval, p_take text default null,
  p_give_up interval default interval '26 hours'
)
returns table (
  id uuid, job_id uuid, found_open boolean, stuck boolean, close_reason text, input_prefix text, object_key text,
  total_pages integer, model text, abandoned boolean
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  b conversion_batch_jobs;
  v_job uuid;
  v_open boolean := true;
  v_stuck boolean := false;
  v_now timestamptz := clock_timestamp();
begin
  select * into b from conversion_batch_jobs x where x.state = 'preparing' and x.lease = p_lease;
  if not found and p_take is distinct from 'parked' then
    select * into b from conversion_batch_jobs x
    where x.state = 'preparing'
      and (x.term < p_term or x.preparer = p_preparer or least(x.prepare_started_at, x.created_at) < v_now - p_stuck)
    order by x.claimed_at
    limit 1
    for no key update skip locked;
    if found then
      v_stuck := (b.term is null or b.term >= p_term) and least(b.prepare_started_at, b.created_at) < v_now - p_stuck;
      update conversion_batch_jobs x set
        lease = p_lease, preparer = p_preparer, prepares = x.prepares + 1, claimed_at = v_now, term = p_term,
        prepare_started_at = case when x.term < p_term then v_now else x.prepare_started_at end
      where x.id = b.id
      returning * into b;
    end if;
  end if;
  if b.id is null and p_take is distinct from 'open' then
    v_open := false;
    select n.id into v_job from next_unclaimed_batch_job() n;
    perform from large_conversion_jobs j where j.id = v_job and j.status = 'waiting_batch' for no key update;
    if not found then
      return;
    end if;
    insert into conversion_batch_jobs (job_id, lease, preparer, term, model, prepares)
    values (v_job, p_lease, p_preparer, p_term, p_model, 1)
    on conflict (job_id) do nothing
    returning * into b;
    if b.id is not null then
      perform refresh_hold(v_job, p_window);
    end if;
  end if;
  return query
    select b.id, b.job_id, v_open, v_stuck, b.close_reason, b.input_prefix, f.object_key, j.total_pages, b.model,
      j.created_at < v_now - p_give_up - interval '1 day'
    from large_conversion_jobs j join files f on f.id = j.file_id
    where j.id = b.job_id;
end
$$;

-- As in 0020; the driver gives up when the job, not only its batch job, has waited for `p_give_up`.
create or replace function submit_conversion_batch_row(
  p_id uuid, p_lease uuid, p_arn text, p_name text, p_poll interval, p_give_up interval
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update conversion_batch_jobs b set
    state = 'submitted', batch_job_arn = p_arn, batch_job_name = p_name, submitted_at = v_now,
    deadline_at = least(v_now, j.created_at) + p_give_up,
    next_poll_at = case when b.close_reason is null then v_now + p_poll else v_now end
  from large_conversion_jobs j
  where b.id = p_id and b.state = 'preparing' and b.lease = p_lease and j.id = b.job_id;
  return found
    or exists (select from conversion_batch_jobs where id = p_id and state = 'submitted' and lease = p_lease);
end
$$;

-- As in 0027; the deadline is a poll of its own.
create or replace function claim_batch_polls(p_every interval, p_limit integer) returns setof conversion_batch_jobs
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with d as materialized (
    select id from conversion_batch_jobs
    where state = 'submitted' and next_poll_at <= clock_timestamp()
    order by next_poll_at
    limit p_limit
    for no key update skip locked
  )
  update conversion_batch_jobs b set next_poll_at = case
    when b.deadline_at > clock_timestamp() then least(clock_timestamp() + p_every, b.deadline_at)
    else clock_timestamp() + p_every
  end
  from d
  where b.id = d.id
  returning b.*
$$;

-- Why a job need not wait any longer, if so; null otherwise. It has waited for `p_give_up`, or its row is `preparing` for `p_stuck`.
-- A submitted row has a deadline, at which the driver gives up by itself; `p_slack` is the time that it has for that.
create function overdue_batch_reason(
  j large_conversion_jobs, b conversion_batch_jobs, p_give_up interval, p_stuck interval, p_slack interval
) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case
    when j.status <> 'waiting_batch' then null
    when b.id is null or b.state = 'preparing' then case
      when j.created_at <= clock_timestamp() - p_give_up then 'it was not done in time'
      when b.prepare_started_at <= clock_timestamp() - p_stuck - p_slack then 'preparing it got stuck'
    end
    when b.state = 'submitted' and b.deadline_at <= clock_timestamp() - p_slack then 'it was not done in time'
  end
$$;

-- A job that has waited for too long goes on-demand, whatever the batch service says; its row is closed out as when its owner
-- hurries, so that a batch job that may exist is still found, stopped and billed. One a call, so that no two jobs are locked at
-- once; answers which, null where there is none.
create function release_overdue_batch_job(
  p_give_up interval, p_stuck interval, p_slack interval, p_window interval default interval '90 minutes'
) returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_id uuid;
  j large_conversion_jobs;
  b conversion_batch_jobs;
  v_reason text;
begin
  for v_id in
    select x.id from large_conversion_jobs x left join conversion_batch_jobs y on y.job_id = x.id
    where x.status = 'waiting_batch' and overdue_batch_reason(x, y, p_give_up, p_stuck, p_slack) is not null
    order by x.created_at, x.id
  loop
    select * into j from large_conversion_jobs x where x.id = v_id for no key update skip locked;
    continue when not found;
    -- Its preparer or the driver may have moved the row meanwhile.
    select * into b from conversion_batch_jobs x where x.job_id = v_id for no key update;
    v_reason := overdue_batch_reason(j, b, p_give_up, p_stuck, p_slack);
    if v_reason is not null and close_conversion_batch_row(v_id, v_reason) <> 'closed' then
      perform resume_batch_conversion_job(v_id, '{}', p_window);
      return v_id;
    end if;
  end loop;
  return null;
end
$$;

-- Chunks of a job that was written by hand without any, as the executor would have made them. Its caller holds the job.
create function make_missing_chunks(p_job_id uuid, p_chunk_pages integer default 20) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j large_conversion_jobs;
  v_chunks integer;
begin
  select * into j from large_conversion_jobs x
  where x.id = p_job_id and x.total_pages > 0 and not exists (select from chunk_jobs c where c.job_id = x.id);
  if not found then
    return false;
  end if;
  v_chunks := (j.total_pages + p_chunk_pages - 1) / p_chunk_pages;
  -- Before they are there: chunks of a job that does not say how many it has share out its pages by themselves.
  update large_conversion_jobs set total_chunks = v_chunks where id = p_job_id;
  insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, queued_at)
  select p_job_id, i, i * p_chunk_pages, least((i + 1) * p_chunk_pages, j.total_pages) - 1,
    case when j.status = 'waiting_batch' then 'waiting_batch' else 'pending' end, j.created_at
  from generate_series(0, v_chunks - 1) as i;
  return true;
end
$$;

-- As in 0020; a job without chunks gets them, since nothing else would move it.
create or replace function resume_batch_conversion_job(
  p_job_id uuid, p_options_patch jsonb default '{}', p_window interval default interval '90 minutes'
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform from large_conversion_jobs where id = p_job_id for no key update;
  update large_conversion_jobs set
    status = 'pending', options = options || coalesce(p_options_patch, '{}'), updated_at = v_now
  where id = p_job_id and status = 'waiting_batch';
  if not found then
    return false;
  end if;
  perform make_missing_chunks(p_job_id);
  update chunk_jobs set status = 'pending', not_before = v_now, updated_at = v_now
  where job_id = p_job_id and status = 'waiting_batch';
  perform conversion_progress(p_job_id);
  perform refresh_hold(p_job_id, p_window);
  return true;
end
$$;

-- As in 0024; a job without chunks has nobody to move it either. Whoever writes one by hand has `p_stale` to write its chunks.
create or replace function recover_orphan_chunks(p_stale interval, p_max_attempts integer) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c record;
  v_job uuid;
  v_count integer := 0;
begin
  for c in
    select id, job_id, lease, attempts from chunk_jobs
    where status = 'processing' and coalesce(heartbeat_at, updated_at) < clock_timestamp() - p_stale
    order by coalesce(heartbeat_at, updated_at)
    limit 1
  loop
    perform from large_conversion_jobs where id = c.job_id for no key update;
    update chunk_jobs set
      status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0,
      not_before = clock_timestamp(), updated_at = clock_timestamp()
    where id = c.id and status = 'processing' and lease is not distinct from c.lease
      and coalesce(heartbeat_at, updated_at) < clock_timestamp() - p_stale;
    continue when not found;
    v_count := v_count + 1;
    if c.attempts >= p_max_attempts then
      perform fail_conversion_job(c.job_id, 'Its worker died several times over one part of the document');
    else
      perform conversion_progress(c.job_id);
    end if;
  end loop;
  if v_count > 0 then
    return v_count;
  end if;
  select j.id into v_job from large_conversion_jobs j
  where j.status in ('pending', 'processing') and j.updated_at < clock_timestamp() - p_stale and j.total_pages > 0
    and not exists (select from chunk_jobs x where x.job_id = j.id)
  limit 1
  for no key update skip locked;
  if found and make_missing_chunks(v_job) then
    perform conversion_progress(v_job);
    return 1;
  end if;
  return 0;
end
$$;

select secure_function(f) from unnest(array[
  'batch_records_uploaded(uuid, uuid, text, integer, integer, bigint, text, numeric, numeric)',
  'claim_conversion_batch(uuid, uuid, bigint, text, interval, interval, text, interval)',
  'submit_conversion_batch_row(uuid, uuid, text, text, interval, interval)', 'claim_batch_polls(interval, integer)',
  'overdue_batch_reason(large_conversion_jobs, conversion_batch_jobs, interval, interval, interval)',
  'release_overdue_batch_job(interval, interval, interval, interval)', 'make_missing_chunks(uuid, integer)',
  'resume_batch_conversion_job(uuid, jsonb, interval)', 'recover_orphan_chunks(interval, integer)'
]::regprocedure[]) as f;
