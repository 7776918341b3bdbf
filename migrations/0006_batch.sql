-- The batch lane: one row for each job's batch job, what the driver does with it, and what the owner may do meanwhile.
-- Rules: docs/reference/specification/batch-lane.md. Called by `BatchStore` unless a function says otherwise.
--
-- Lock order: job, batch row, then as in the conversions: chunk, file, flyer job, customer, hold.


-- Tables

-- One row a job at most (B1).
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
  -- Its preparer: an attempt, a process, and the term of the leader's lease.
  lease uuid,
  preparer uuid,
  term bigint,
  prepares integer not null default 0,
  created_at timestamptz not null default now(),
  claimed_at timestamptz not null default now(),
  prepare_started_at timestamptz not null default now(),
  -- When the service last had no room for another batch job: until its deadline it waits for its turn.
  full_at timestamptz,
  uploaded_at timestamptz,
  submitted_at timestamptz,
  -- The driver gives up then.
  deadline_at timestamptz,
  next_poll_at timestamptz not null default now(),
  closed_at timestamptz,
  -- When its objects were removed.
  purged_at timestamptz,
  -- Prices of the model from when the records are uploaded: the batch job is made for that model and billed at that price
  -- (BATCH-30).
  input_usd_per_mtok numeric,
  output_usd_per_mtok numeric,
  check ((state = 'closed') = (outcome is not null))
);

create index conversion_batch_jobs_preparing on conversion_batch_jobs (claimed_at) where state = 'preparing';
create index conversion_batch_jobs_polls on conversion_batch_jobs (next_poll_at) where state = 'submitted';
create index conversion_batch_jobs_closed on conversion_batch_jobs (closed_at);
create index conversion_batch_jobs_purge on conversion_batch_jobs (closed_at) where state = 'closed' and purged_at is null;

-- A row that is written by hand is completed: its outcome is there exactly while it is closed; one that is closed without is
-- what its reason says, else skipped. A submitted one has a deadline, after the shortest time-out and the 2 h of grace.
create function batch_row_is_whole() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.state <> 'closed' then
    new.outcome := null;
    new.closed_at := null;
  elsif new.outcome is null then
    new.outcome := case when new.close_reason in ('collected', 'skipped', 'failed', 'expired') then new.close_reason else 'skipped' end;
    new.closed_at := coalesce(new.closed_at, clock_timestamp());
  end if;
  if new.state = 'submitted' then
    new.submitted_at := coalesce(new.submitted_at, clock_timestamp());
    new.deadline_at := coalesce(new.deadline_at, new.submitted_at + interval '26 hours');
  end if;
  return new;
end
$$;

create trigger conversion_batch_jobs_whole before insert or update of state, outcome on conversion_batch_jobs
for each row execute function batch_row_is_whole();


-- Prepare and submit (BATCH-10 to BATCH-13)

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

-- The oldest of them that the day's budget has room for: what models have cost today, what the open batch jobs will cost, and its
-- own pages. A page costs what the records of the last batch jobs did, `p_page_usd` before there were any.
create function next_batch_job_within(p_budget_usd numeric, p_page_usd numeric) returns setof large_conversion_jobs
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  with lately as (
    select sum(x.cost_usd) as usd, sum(x.records) as records from (
      select cost_usd, records from conversion_batch_jobs
      where state = 'closed' and cost_usd > 0 and records > 0
      order by closed_at desc
      limit 20
    ) x
  ), page as (
    select coalesce(usd / records, p_page_usd) as usd from lately
  ), room as (
    select p_budget_usd - model_cost_today() - page.usd * coalesce((
      select sum(case when b.input_prefix is null then j.total_pages else b.records end)
      from conversion_batch_jobs b join large_conversion_jobs j on j.id = b.job_id
      where b.state in ('preparing', 'submitted')
    ), 0) as usd
    from page
  )
  select j.* from large_conversion_jobs j
  where j.status = 'waiting_batch' and not exists (select from conversion_batch_jobs b where b.job_id = j.id)
    and j.total_pages * (select usd from page) <= (select usd from room)
  order by j.created_at, j.id
  limit 1
$$;

-- Claims what there is to prepare, from one place of `p_take`: `open` are rows that were left `preparing` (by an earlier
-- leader, by this process in an earlier tick, or by any for longer than `p_stuck`), longest ago first; `parked` is the oldest
-- job without a row, which gets its row and keeps its funds for `p_window`; null takes the first of both. Of the parked ones, with
-- a daily budget, those alone whose pages, at `p_page_usd` each or what a record has cost lately, fit in what is left of it beside
-- the batch jobs that are not billed yet (DOC-22). The same call
-- again returns the same row. `found_open`: its batch job may exist already. `stuck`: its leader lives and did not get it
-- done in `p_stuck`, though the service was not full. `abandoned`: its job waited for `p_give_up`, and that is a day ago (BATCH-15).
--
-- Lock order: an open row alone; a parked job, row, customer, hold.
create function claim_conversion_batch(
  p_lease uuid, p_preparer uuid, p_term bigint, p_model text, p_stuck interval, p_window interval, p_take text default null,
  p_give_up interval default interval '26 hours', p_budget_usd numeric default null, p_page_usd numeric default 0
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
      v_stuck := (b.term is null or b.term >= p_term)
        and greatest(least(b.prepare_started_at, b.created_at), b.full_at) < v_now - p_stuck;
      update conversion_batch_jobs x set
        lease = p_lease, preparer = p_preparer, prepares = x.prepares + 1, claimed_at = v_now, term = p_term,
        prepare_started_at = case when x.term < p_term then v_now else x.prepare_started_at end
      where x.id = b.id
      returning * into b;
    end if;
  end if;
  if b.id is null and p_take is distinct from 'open' then
    v_open := false;
    if p_budget_usd is null then
      select n.id into v_job from next_unclaimed_batch_job() n;
    else
      select n.id into v_job from next_batch_job_within(p_budget_usd, p_page_usd) n;
    end if;
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

-- The records are uploaded, for this model at these prices. False: another preparer has the row now.
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

-- The service has no room for another batch job: whatever is uploaded waits for its turn.
create function batch_service_full() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update conversion_batch_jobs set full_at = clock_timestamp()
  where id in (
    select id from conversion_batch_jobs where state = 'preparing' and input_prefix is not null for no key update skip locked
  )
$$;

-- `preparing` → `submitted`: the batch job exists. It is polled at once where it is to be stopped, else in `p_poll`; the
-- driver gives up when the job, not only its batch job, has waited for `p_give_up` (BATCH-15). False: the row no longer
-- belongs to this preparer. The same call again is answered as before.
create function submit_conversion_batch_row(
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


-- Poll, collect, close (BATCH-14, BATCH-16, BATCH-30)

-- The submitted rows that are due, at most `p_limit`: each is handed to one driver, and again in `p_every`. The deadline is a
-- poll of its own.
create function claim_batch_polls(p_every interval, p_limit integer) returns setof conversion_batch_jobs
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

-- A collect begins: returns which one it is. Null: the row is not `submitted` any more.
create function begin_batch_collect(p_id uuid) returns integer
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update conversion_batch_jobs set attempts = attempts + 1 where id = p_id and state = 'submitted' returning attempts
$$;

-- Closes a batch row, from `preparing` with its lease, from `submitted` without one, and books the one ledger entry of the
-- batch job (null: it returned nothing) in the same transaction (B2). Only the call that closes it returns true. The cost is
-- noted on the job, whatever became of that meanwhile. Lock order: job, batch row.
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

-- Closed rows whose objects are not needed any more (BATCH-44): their job has ended, and it is `p_after` ago or its file is
-- deleted.
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


-- Resume, process-now, and jobs that have waited too long (BATCH-15, BATCH-17, BATCH-40, BATCH-41)

-- A parked job and its chunks go to on-demand processing, with `p_options_patch` in its options; its funds stay set aside for
-- `p_window`. A job without chunks gets them, since nothing else would move it. True for the call that did it: a job is
-- resumed once (X3). Lock order: job, chunks, file, customer, hold.
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
  perform make_missing_chunks(p_job_id);
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

-- What becomes of a job's batch row when its owner acts (BATCH-41): without one, a closed row keeps the driver away; an open
-- one gets the reason, and its batch job is stopped at the next poll, which is due at once. Returns the state that was found,
-- or `none`. Its caller holds the job.
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

-- Process-now (BATCH-40): a parked job goes on demand and its batch row is closed out. Returns `resumed`; `closed` where the
-- batch row is closed already, so that the driver is about to resume the job with its results; or `not_waiting`. Lock order:
-- job, batch row, then as `resume_batch_conversion_job`.
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

-- Why a job need not wait any longer; null where it does. It has waited for `p_give_up`, or its row is `preparing` for
-- `p_stuck` and the service was not full. A submitted row has a deadline, at which the driver gives up by itself; `p_slack` is the time that it has for
-- that.
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
      when greatest(b.prepare_started_at, b.full_at) <= clock_timestamp() - p_stuck - p_slack then 'preparing it got stuck'
    end
    when b.state = 'submitted' and b.deadline_at <= clock_timestamp() - p_slack then 'it was not done in time'
  end
$$;

-- Releases a job that has waited for too long to on-demand processing, whatever the batch service says (B4, BATCH-15); its row
-- is closed out as by process-now, so that a batch job that may exist is still found, stopped and billed. One a call, so that
-- no two jobs are locked at once; returns which, null where there is none. Lock order: as `make_conversion_job_interactive`.
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

select secure_table('conversion_batch_jobs');

select secure_function(name) from unnest(array[
  'batch_row_is_whole()',
  'next_unclaimed_batch_job()',
  'next_batch_job_within(numeric, numeric)',
  'claim_conversion_batch(uuid, uuid, bigint, text, interval, interval, text, interval, numeric, numeric)',
  'batch_records_uploaded(uuid, uuid, text, integer, integer, bigint, text, numeric, numeric)',
  'batch_service_full()',
  'submit_conversion_batch_row(uuid, uuid, text, text, interval, interval)',
  'claim_batch_polls(interval, integer)',
  'begin_batch_collect(uuid)',
  'end_conversion_batch_row(uuid, uuid, text, text, text, integer, integer, jsonb)',
  'stop_conversion_batch_row(uuid, text)',
  'batch_rows_to_purge(interval, integer)',
  'resume_batch_conversion_job(uuid, jsonb, interval)',
  'stranded_batch_conversion_jobs()',
  'close_conversion_batch_row(uuid, text)',
  'make_conversion_job_interactive(uuid, interval)',
  'overdue_batch_reason(large_conversion_jobs, conversion_batch_jobs, interval, interval, interval)',
  'release_overdue_batch_job(interval, interval, interval, interval)'
]::regprocedure[]) as name;
