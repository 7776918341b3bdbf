-- The batch lane (document 3): one row for each job's batch, what its owner may do meanwhile, and what the driver does. Locks
-- as in 0018, the batch row right after its job: job, batch row, chunk, file, flyer job, customer, hold.

create table conversion_batch_jobs (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null unique references large_conversion_jobs (id),
  state text not null default 'preparing' check (state in ('preparing', 'submitted', 'closed')),
  -- Of a closed row: collected (results are there), skipped (not wanted, too few or too many records), failed or expired.
  outcome text check (outcome in ('collected', 'skipped', 'failed', 'expired')),
  -- Why it is closed; on a row that is still open: why its batch job is to be stopped.
  close_reason text,
  batch_job_arn text,
  batch_job_name text,
  model text,
  -- Where the uploaded records stand; null: not uploaded yet.
  input_prefix text,
  records integer not null default 0,
  accepted integer not null default 0,
  fallback integer not null default 0,
  shards integer not null default 0,
  input_bytes bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  -- The status that the batch service ended with.
  end_state text,
  -- Collects begun.
  attempts integer not null default 0,
  -- Who prepares it: an attempt, a process, and the term of the leader's lease.
  lease uuid,
  preparer uuid,
  term bigint,
  prepares integer not null default 0,
  created_at timestamptz not null default now(),
  claimed_at timestamptz not null default now(),
  prepare_started_at timestamptz not null default now(),
  uploaded_at timestamptz,
  submitted_at timestamptz,
  -- The driver gives up then.
  deadline_at timestamptz,
  next_poll_at timestamptz not null default now(),
  closed_at timestamptz,
  -- When its objects were removed.
  purged_at timestamptz,
  check ((state = 'closed') = (outcome is not null))
);

create index conversion_batch_jobs_preparing on conversion_batch_jobs (claimed_at) where state = 'preparing';
create index conversion_batch_jobs_polls on conversion_batch_jobs (next_poll_at) where state = 'submitted';
create index conversion_batch_jobs_closed on conversion_batch_jobs (closed_at);
create index conversion_batch_jobs_purge on conversion_batch_jobs (closed_at) where state = 'closed' and purged_at is null;
create index large_conversion_jobs_waiting on large_conversion_jobs (created_at, id) where status = 'waiting_batch';

select secure_table('conversion_batch_jobs');

-- The oldest parked job that the driver has not claimed, if any. By the indexes, whatever the statistics say of a table that
-- grew quickly.
create function next_unclaimed_batch_job() returns setof large_conversion_jobs
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  select j.* from large_conversion_jobs j
  where j.status = 'waiting_batch' and not exists (select from conversion_batch_jobs b where b.job_id = j.id)
  order by j.created_at, j.id
  limit 1
$$;

-- What there is to prepare: a row that somebody left `preparing` (an earlier leader, this process in an earlier tick, or
-- anybody for longer than `p_stuck`), else the oldest parked job, which gets its row and keeps its funds for `p_window`. The
-- same call again gives the same row. `found_open`: its batch job may exist already. `stuck`: its leader lives and did not
-- get it done in `p_stuck`.
create function claim_conversion_batch(
  p_lease uuid, p_preparer uuid, p_term bigint, p_model text, p_stuck interval, p_window interval
)
returns table (
  id uuid, job_id uuid, found_open boolean, stuck boolean, close_reason text, input_prefix text, object_key text,
  total_pages integer
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  b conversion_batch_jobs;
  v_job uuid;
  v_stuck boolean := false;
  v_now timestamptz := clock_timestamp();
begin
  select * into b from conversion_batch_jobs x where x.state = 'preparing' and x.lease = p_lease;
  if not found then
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
  if b.id is not null then
    return query select b.id, b.job_id, true, v_stuck, b.close_reason, b.input_prefix, f.object_key, j.total_pages
      from large_conversion_jobs j join files f on f.id = j.file_id where j.id = b.job_id;
    return;
  end if;
  select n.id into v_job from next_unclaimed_batch_job() n;
  perform from large_conversion_jobs j where j.id = v_job and j.status = 'waiting_batch' for no key update;
  if not found then
    return;
  end if;
  insert into conversion_batch_jobs (job_id, lease, preparer, term, model, prepares)
  values (v_job, p_lease, p_preparer, p_term, p_model, 1)
  on conflict (job_id) do nothing
  returning * into b;
  if b.id is null then
    return;
  end if;
  perform refresh_hold(v_job, p_window);
  return query select b.id, b.job_id, false, false, b.close_reason, b.input_prefix, f.object_key, j.total_pages
    from large_conversion_jobs j join files f on f.id = j.file_id where j.id = b.job_id;
end
$$;

-- The records are uploaded. False: another one prepares it now.
create function batch_records_uploaded(
  p_id uuid, p_lease uuid, p_input_prefix text, p_records integer, p_shards integer, p_bytes bigint
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update conversion_batch_jobs set
    input_prefix = p_input_prefix, records = p_records, shards = p_shards, input_bytes = p_bytes,
    uploaded_at = clock_timestamp()
  where id = p_id and state = 'preparing' and lease = p_lease;
  return found;
end
$$;

-- `preparing` → `submitted`: the batch job exists. It is polled at once where it is to be stopped, else in `p_poll`; the driver
-- gives up after `p_give_up`. False: the row is not this preparer's any more. The same call again is answered as before.
create function submit_conversion_batch_row(
  p_id uuid, p_lease uuid, p_arn text, p_name text, p_poll interval, p_give_up interval
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update conversion_batch_jobs set
    state = 'submitted', batch_job_arn = p_arn, batch_job_name = p_name, submitted_at = v_now,
    deadline_at = v_now + p_give_up, next_poll_at = case when close_reason is null then v_now + p_poll else v_now end
  where id = p_id and state = 'preparing' and lease = p_lease;
  return found
    or exists (select from conversion_batch_jobs where id = p_id and state = 'submitted' and lease = p_lease);
end
$$;

-- The submitted rows that are due, at most `p_limit`: each is handed to one driver, and again in `p_every`.
create function claim_batch_polls(p_every interval, p_limit integer) returns setof conversion_batch_jobs
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update conversion_batch_jobs b set next_poll_at = clock_timestamp() + p_every
  from (
    select id from conversion_batch_jobs
    where state = 'submitted' and next_poll_at <= clock_timestamp()
    order by next_poll_at
    limit p_limit
    for no key update skip locked
  ) d
  where b.id = d.id
  returning b.*
$$;

-- A collect begins: which one it is. Null: the row is not `submitted` any more.
create function begin_batch_collect(p_id uuid) returns integer
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update conversion_batch_jobs set attempts = attempts + 1 where id = p_id and state = 'submitted' returning attempts
$$;

-- Closes a batch row, from `preparing` with its lease, from `submitted` without one, and books the one ledger entry of the
-- batch job (null: it returned nothing) in the same transaction. Only the call that closes it answers true. The cost is
-- noted on the job, whatever became of that meanwhile.
create function end_conversion_batch_row(
  p_id uuid, p_lease uuid, p_outcome text, p_reason text, p_end_state text, p_accepted integer, p_fallback integer,
  p_cost jsonb
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  select job_id into v_job from conversion_batch_jobs where id = p_id;
  perform from large_conversion_jobs where id = v_job for no key update;
  update conversion_batch_jobs set
    state = 'closed', outcome = p_outcome, close_reason = coalesce(close_reason, p_reason), end_state = p_end_state,
    accepted = p_accepted, fallback = p_fallback, closed_at = clock_timestamp(),
    input_tokens = coalesce((p_cost ->> 'input_tokens')::bigint, 0),
    output_tokens = coalesce((p_cost ->> 'output_tokens')::bigint, 0),
    cost_usd = coalesce((p_cost ->> 'cost_usd')::numeric, 0)
  where id = p_id and (
    (p_lease is null and state = 'submitted') or (state = 'preparing' and lease = p_lease)
  );
  if not found then
    return false;
  end if;
  if p_cost is not null then
    update large_conversion_jobs set
      options = options || jsonb_build_object('_batchCostUsd', (p_cost ->> 'cost_usd')::numeric)
    where id = v_job;
    perform book_costs(jsonb_build_array(p_cost));
  end if;
  return true;
end
$$;

-- The driver gives up on a batch job that has not ended: it is to be stopped, for this reason unless there is one.
create function stop_conversion_batch_row(p_id uuid, p_reason text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update conversion_batch_jobs set close_reason = coalesce(close_reason, p_reason)
  where id = p_id and state = 'submitted';
  return found;
end
$$;

-- A parked job and its chunks go to on-demand processing, with `p_options_patch` in its options; its funds stay set aside for
-- `p_window`. True for the call that did it: a job is resumed once.
create function resume_batch_conversion_job(
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
  update chunk_jobs set status = 'pending', not_before = v_now, updated_at = v_now
  where job_id = p_job_id and status = 'waiting_batch';
  perform conversion_progress(p_job_id);
  perform refresh_hold(p_job_id, p_window);
  return true;
end
$$;

-- Jobs whose batch row is closed and that wait all the same: the driver ended between the two, or its resume failed.
create function stranded_batch_conversion_jobs()
returns table (job_id uuid, outcome text, cost_usd numeric)
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  select j.id, b.outcome, b.cost_usd
  from large_conversion_jobs j
  join conversion_batch_jobs b on b.job_id = j.id and b.state = 'closed'
  where j.status = 'waiting_batch'
  order by j.created_at, j.id
$$;

-- What becomes of a job's batch row when its owner acts (document 3, "Batch row when the user acts"): without one, a closed
-- row keeps the driver away; an open one gets the reason, and its batch job is stopped at the next poll, which is due at
-- once. Answers the state that was found, or `none`. Its caller holds the job.
create function close_conversion_batch_row(p_job_id uuid, p_reason text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_state text;
begin
  insert into conversion_batch_jobs (job_id, state, outcome, close_reason, closed_at)
  values (p_job_id, 'closed', 'skipped', p_reason, clock_timestamp())
  on conflict (job_id) do nothing;
  if found then
    return 'none';
  end if;
  select state into v_state from conversion_batch_jobs where job_id = p_job_id for no key update;
  update conversion_batch_jobs set close_reason = coalesce(close_reason, p_reason), next_poll_at = clock_timestamp()
  where job_id = p_job_id and state <> 'closed';
  return v_state;
end
$$;

-- Process now: a parked job goes on-demand and its batch row is closed out. Answers `resumed`; `closed` where the batch row is
-- closed already, so that the driver is about to resume the job with its results; or `not_waiting`.
create function make_conversion_job_interactive(p_job_id uuid, p_window interval default interval '90 minutes')
returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from large_conversion_jobs where id = p_job_id and status = 'waiting_batch' for no key update;
  if not found then
    return 'not_waiting';
  end if;
  if close_conversion_batch_row(p_job_id, 'user chose interactive') = 'closed' then
    return 'closed';
  end if;
  perform resume_batch_conversion_job(p_job_id, '{}', p_window);
  return 'resumed';
end
$$;

-- As in 0018; a parked job's batch row, and one whose batch job still runs after Process now, is closed out with it.
create or replace function cancel_conversion_job(p_job_id uuid, p_reset_file boolean default true) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q convert_queue;
  v_job large_conversion_jobs;
  v_now timestamptz := clock_timestamp();
begin
  delete from convert_queue where job_id = p_job_id returning * into q;
  if found then
    insert into large_conversion_jobs (id, file_id, customer_id, bulk_id, status, options)
    values (q.job_id, q.file_id, q.customer_id, q.bulk_id, 'pending', q.options);
  end if;
  select * into v_job from large_conversion_jobs where id = p_job_id for no key update;
  if not found then
    return 'not_active';
  end if;
  if v_job.status = 'assembling' then
    return 'finishing';
  end if;
  if v_job.status = 'cancelled' then
    return 'cancelled';
  end if;
  if v_job.status not in ('pending', 'processing', 'paused_budget', 'waiting_batch') then
    return 'not_active';
  end if;
  if v_job.status = 'waiting_batch' or exists (select from conversion_batch_jobs b where b.job_id = p_job_id) then
    perform close_conversion_batch_row(
      p_job_id, case when p_reset_file then 'Cancelled by user' else 'Cancelled: the source file was deleted' end
    );
  end if;
  update large_conversion_jobs set
    status = 'cancelled', finished_at = v_now, updated_at = v_now, total_cost_usd = conversion_cost(id)
  where id = p_job_id;
  update chunk_jobs set status = 'cancelled', updated_at = v_now where job_id = p_job_id and status <> 'completed';
  if p_reset_file then
    update files set
      status = 'uploaded', phase = null, done = 0, total = 0, error = null, updated_at = v_now
    where id = v_job.file_id and job_id = p_job_id and status = 'chunked_processing';
  end if;
  update flyer_jobs set comp_conversion_id = null, updated_at = v_now
  where id = (v_job.options ->> '_compedFlyerJobId')::uuid and comp_conversion_id = p_job_id;
  perform release_hold(p_job_id, 'cancelled');
  return 'cancelled';
end
$$;

-- Closed rows whose objects are not needed any more: their job has ended, and it is `p_after` ago or its file is deleted.
create function batch_rows_to_purge(p_after interval, p_limit integer) returns table (id uuid, job_id uuid)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select b.id, b.job_id
  from conversion_batch_jobs b
  join large_conversion_jobs j on j.id = b.job_id
  join files f on f.id = j.file_id
  where b.state = 'closed' and b.purged_at is null and j.status in ('completed', 'failed', 'cancelled')
    and (f.deleted_at is not null or b.closed_at < clock_timestamp() - p_after)
  order by b.closed_at
  limit p_limit
$$;

select secure_function(f) from unnest(array[
  'next_unclaimed_batch_job()', 'claim_conversion_batch(uuid, uuid, bigint, text, interval, interval)',
  'batch_records_uploaded(uuid, uuid, text, integer, integer, bigint)',
  'submit_conversion_batch_row(uuid, uuid, text, text, interval, interval)', 'claim_batch_polls(interval, integer)',
  'begin_batch_collect(uuid)',
  'end_conversion_batch_row(uuid, uuid, text, text, text, integer, integer, jsonb)',
  'stop_conversion_batch_row(uuid, text)', 'resume_batch_conversion_job(uuid, jsonb, interval)',
  'stranded_batch_conversion_jobs()', 'close_conversion_batch_row(uuid, text)',
  'make_conversion_job_interactive(uuid, interval)', 'cancel_conversion_job(uuid, boolean)',
  'batch_rows_to_purge(interval, integer)'
]::regprocedure[]) as f;
