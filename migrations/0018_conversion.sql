-- Files, conversion jobs, their chunks and what the models cost (document 3). Locks are always taken in this order: job,
-- chunk, file, flyer job, customer, hold; so no two of these functions can wait for each other.

create table files (
  id uuid primary key default gen_random_uuid(),
  customer_id uuid not null references customers (id),
  name text not null,
  kind text not null check (kind in ('pdf', 'docx', 'png', 'jpeg')),
  size_bytes bigint not null check (size_bytes >= 0),
  pages integer not null check (pages > 0),
  status text not null default 'uploaded'
    check (status in ('uploaded', 'processing', 'chunked_processing', 'completed', 'failed')),
  -- What is going on, in words.
  phase text,
  object_key text not null,
  result_key text,
  -- The newest conversion; its row may not be there yet (it is queued).
  job_id uuid,
  done integer not null default 0,
  total integer not null default 0,
  error text,
  -- The inline path (DOCX, images): what was asked for, and who is at it.
  options jsonb not null default '{}',
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- When a deleted file's objects were removed.
  purged_at timestamptz
);

create index files_customer on files (customer_id, created_at desc, id desc) where deleted_at is null;
create index files_live on files (status, updated_at) where status in ('processing', 'chunked_processing');
create index customers_closed on customers (id) where deleted_at is not null;
create index files_to_purge on files (deleted_at) where deleted_at is not null and purged_at is null;

-- The queue `convert`: conversions that were asked for, until the executor on the anchor makes their jobs.
create table convert_queue (
  job_id uuid primary key,
  file_id uuid not null references files (id),
  customer_id uuid not null references customers (id),
  options jsonb not null,
  bulk_id uuid,
  created_at timestamptz not null default now()
);

create index convert_queue_age on convert_queue (created_at);

create table large_conversion_jobs (
  id uuid primary key default gen_random_uuid(),
  file_id uuid not null references files (id),
  customer_id uuid references customers (id),
  bulk_id uuid,
  status text not null default 'pending' check (status in (
    'pending', 'waiting_batch', 'processing', 'paused_budget', 'assembling', 'completed', 'failed', 'cancelled'
  )),
  options jsonb not null default '{}',
  total_pages integer not null default 0,
  total_chunks integer not null default 0,
  done_chunks integer not null default 0,
  total_cost_usd numeric,
  error text,
  -- The assembly: who is at it.
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz
);

create index large_conversion_jobs_newest on large_conversion_jobs (created_at desc, id desc);
create index large_conversion_jobs_status on large_conversion_jobs (status, created_at desc, id desc);
create index large_conversion_jobs_file on large_conversion_jobs (file_id, created_at desc);
create index large_conversion_jobs_bulk on large_conversion_jobs (bulk_id) where bulk_id is not null;

create table chunk_jobs (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null references large_conversion_jobs (id),
  chunk_index integer not null check (chunk_index >= 0),
  -- Pages from 0, the last one included.
  first_page integer not null default 0,
  last_page integer not null default 0,
  status text not null default 'pending'
    check (status in ('pending', 'waiting_batch', 'processing', 'completed', 'failed', 'cancelled')),
  worker text,
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  pages_done integer not null default 0,
  result_key text,
  error text,
  -- That of the job, so that the oldest job's chunks are found first.
  queued_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (job_id, chunk_index)
);

create index chunk_jobs_next on chunk_jobs (queued_at, job_id, chunk_index) where status = 'pending';
create index chunk_jobs_running on chunk_jobs (heartbeat_at) where status = 'processing';

-- What models cost: a row for each chunk attempt (source `chunk-scheduler`), inline conversion, batch job and so on.
create table cost_ledger (
  id uuid primary key default gen_random_uuid(),
  job_id uuid,
  chunk_id uuid,
  source text not null,
  backend text not null,
  model text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create index cost_ledger_job on cost_ledger (job_id);
create index cost_ledger_day on cost_ledger (created_at);

-- Preserve Formatting: a layout-true result, and the free reflow that a customer may choose instead.
create table flyer_jobs (
  id uuid primary key default gen_random_uuid(),
  file_id uuid not null references files (id),
  customer_id uuid not null references customers (id),
  status text not null default 'pending' check (status in ('pending', 'processing', 'completed', 'failed')),
  -- The free reflow; set at most once, cleared when that reflow is cancelled.
  comp_conversion_id uuid,
  result_key text,
  error text,
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index flyer_jobs_file on flyer_jobs (file_id, created_at desc);
create index flyer_jobs_live on flyer_jobs (status, created_at) where status in ('pending', 'processing');

select secure_table(t) from unnest(array[
  'files', 'convert_queue', 'large_conversion_jobs', 'chunk_jobs', 'cost_ledger', 'flyer_jobs'
]::regclass[]) as t;

-- Books model costs; an entry whose id is there is booked already. Keys of an entry: id, job_id, chunk_id, source, backend,
-- model, input_tokens, output_tokens, cost_usd, metadata. A job that has ended gets its total anew.
create function book_costs(p_entries jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- A job that ends at the same time sees these costs, or is seen to have ended.
  perform from large_conversion_jobs
  where id in (select (x ->> 'job_id')::uuid from jsonb_array_elements(p_entries) as x)
  order by id
  for no key update;
  insert into cost_ledger (id, job_id, chunk_id, source, backend, model, input_tokens, output_tokens, cost_usd, metadata)
  select
    e.id, e.job_id, e.chunk_id, e.source, e.backend, e.model, coalesce(e.input_tokens, 0), coalesce(e.output_tokens, 0),
    coalesce(e.cost_usd, 0), coalesce(e.metadata, '{}')
  from jsonb_to_recordset(p_entries) as e(
    id uuid, job_id uuid, chunk_id uuid, source text, backend text, model text, input_tokens bigint,
    output_tokens bigint, cost_usd numeric, metadata jsonb
  )
  on conflict (id) do nothing;
  update large_conversion_jobs j set total_cost_usd = conversion_cost(j.id)
  where j.id in (select (x ->> 'job_id')::uuid from jsonb_array_elements(p_entries) as x)
    and j.status in ('completed', 'failed', 'cancelled');
end
$$;

-- A job's whole cost: its ledger rows but for the batch job's, and the batch job's as stamped on resume (document 3).
create function conversion_cost(p_job_id uuid) returns numeric
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select coalesce(sum(l.cost_usd) filter (where not coalesce((l.metadata ->> 'batch')::boolean, false)), 0)
    + coalesce((select (j.options ->> '_batchCostUsd')::numeric from large_conversion_jobs j where j.id = p_job_id), 0)
  from cost_ledger l
  where l.job_id = p_job_id
$$;

-- Asks for a conversion: the file turns to converting, funds are set aside and the queue `convert` holds the request, all
-- or nothing. Answers `queued`, `not_found`, `active` (another one is under way) or `insufficient`. The same call again
-- is answered `queued`. A comped one (options `_compedFlyerJobId`) sets no funds aside.
create function request_conversion(
  p_job_id uuid, p_file_id uuid, p_customer_id uuid, p_options jsonb, p_window interval, p_bulk_id uuid default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  select * into f from files where id = p_file_id and customer_id = p_customer_id and deleted_at is null for no key update;
  if not found then
    return 'not_found';
  end if;
  if f.job_id = p_job_id then
    return 'queued';
  end if;
  if f.status in ('processing', 'chunked_processing')
    or exists (select from flyer_jobs x where x.file_id = f.id and x.status in ('pending', 'processing')) then
    return 'active';
  end if;
  if not (p_options ? '_compedFlyerJobId') and not place_hold(p_customer_id, p_job_id, f.pages, p_window) then
    return 'insufficient';
  end if;
  update files set
    status = case when kind = 'pdf' then 'chunked_processing' else 'processing' end,
    phase = 'Queued', job_id = p_job_id, options = p_options, done = 0, total = pages, error = null, lease = null, heartbeat_at = null,
    attempts = 0, updated_at = clock_timestamp()
  where id = f.id;
  if f.kind = 'pdf' then
    insert into convert_queue (job_id, file_id, customer_id, options, bulk_id)
    values (p_job_id, p_file_id, p_customer_id, p_options, p_bulk_id);
  end if;
  return 'queued';
end
$$;

-- Makes the job of a queued request, with chunks of `p_chunk_pages` pages, as `pending` or `waiting_batch`. False where it
-- is not queued any more (made, or cancelled, meanwhile).
create function create_conversion_job(p_job_id uuid, p_status text, p_chunk_pages integer, p_options jsonb)
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q convert_queue;
  v_pages integer;
  v_chunks integer;
  v_now timestamptz := clock_timestamp();
begin
  delete from convert_queue where job_id = p_job_id returning * into q;
  if not found then
    return false;
  end if;
  select pages into v_pages from files where id = q.file_id;
  v_chunks := (v_pages + p_chunk_pages - 1) / p_chunk_pages;
  insert into large_conversion_jobs (
    id, file_id, customer_id, bulk_id, status, options, total_pages, total_chunks, created_at
  ) values (q.job_id, q.file_id, q.customer_id, q.bulk_id, p_status, p_options, v_pages, v_chunks, v_now);
  insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, queued_at)
  select q.job_id, i, i * p_chunk_pages, least((i + 1) * p_chunk_pages, v_pages) - 1, p_status, v_now
  from generate_series(0, v_chunks - 1) as i;
  update files set
    phase = case when p_status = 'waiting_batch' then 'Waiting for batch' else format('Queued: 0/%s chunks', v_chunks) end,
    updated_at = v_now
  where id = q.file_id and job_id = q.job_id and status = 'chunked_processing';
  return true;
end
$$;

-- What the worker of a chunk has to know.
create function claimed_chunk(p_chunk_id uuid)
returns table (
  id uuid, job_id uuid, chunk_index integer, first_page integer, last_page integer, attempts integer, file_id uuid,
  object_key text, options jsonb, total_pages integer
)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select c.id, c.job_id, c.chunk_index, c.first_page, c.last_page, c.attempts, j.file_id, f.object_key, j.options,
    j.total_pages
  from chunk_jobs c
  join large_conversion_jobs j on j.id = c.job_id
  join files f on f.id = j.file_id
  where c.id = p_chunk_id
$$;

-- Claims the next chunk of the oldest job for a worker, under a lease of its own. No row where there is nothing to do. The
-- same call again gives the same chunk.
create function claim_chunk(p_worker text, p_lease uuid)
returns table (
  id uuid, job_id uuid, chunk_index integer, first_page integer, last_page integer, attempts integer, file_id uuid,
  object_key text, options jsonb, total_pages integer
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_chunk uuid;
  v_job uuid;
begin
  select c.id into v_chunk from chunk_jobs c where c.status = 'processing' and c.lease = p_lease;
  if found then
    return query select * from claimed_chunk(v_chunk);
    return;
  end if;
  for v_job in
    select distinct on (c.queued_at, c.job_id) c.job_id
    from chunk_jobs c
    join large_conversion_jobs j on j.id = c.job_id and j.status in ('pending', 'processing')
    where c.status = 'pending' and c.not_before <= clock_timestamp()
    order by c.queued_at, c.job_id
    limit 8
  loop
    perform from large_conversion_jobs j where j.id = v_job and j.status in ('pending', 'processing') for no key update;
    continue when not found;
    select c.id into v_chunk from chunk_jobs c
    where c.job_id = v_job and c.status = 'pending' and c.not_before <= clock_timestamp()
    order by c.chunk_index
    limit 1
    for no key update skip locked;
    continue when not found;
    update chunk_jobs c set
      status = 'processing', worker = p_worker, lease = p_lease, heartbeat_at = clock_timestamp(),
      attempts = c.attempts + 1, pages_done = 0, error = null, updated_at = clock_timestamp()
    where c.id = v_chunk;
    update large_conversion_jobs j set status = 'processing', updated_at = clock_timestamp()
    where j.id = v_job and j.status = 'pending';
    perform conversion_progress(v_job);
    return query select * from claimed_chunk(v_chunk);
    return;
  end loop;
end
$$;

-- Writes a job's progress on its file, as long as the file is still converting by this job.
create function conversion_progress(p_job_id uuid) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update files f set
    done = p.pages,
    phase = case
      when p.status = 'assembling' then 'Assembling'
      when p.status = 'paused_budget' then 'Paused: the daily model budget is spent'
      when p.status = 'waiting_batch' then 'Waiting for batch'
      when p.running = 0 and p.chunks = 0 then format('Queued: 0/%s chunks', p.total)
      else format('Converting: %s/%s chunks', p.chunks, p.total)
    end,
    updated_at = clock_timestamp()
  from (
    select
      j.file_id, j.status, j.total_chunks as total,
      count(*) filter (where c.status = 'completed') as chunks,
      count(*) filter (where c.status = 'processing') as running,
      coalesce(sum(case when c.status = 'completed' then c.last_page - c.first_page + 1
        when c.status = 'processing' then c.pages_done else 0 end), 0)::integer as pages
    from large_conversion_jobs j
    left join chunk_jobs c on c.job_id = j.id
    where j.id = p_job_id
    group by j.id
  ) p
  where f.id = p.file_id and f.job_id = p_job_id and f.status = 'chunked_processing'
$$;

-- A running chunk is alive and has `p_pages_done` pages. False: it is not this worker's any more, or was stopped, and has to
-- end at once. Keeps the job's funds set aside.
create function heartbeat_chunk(p_chunk_id uuid, p_lease uuid, p_pages_done integer, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
  v_before integer;
begin
  update chunk_jobs c set heartbeat_at = clock_timestamp(), pages_done = greatest(x.pages_done, p_pages_done)
  from (select id, pages_done from chunk_jobs where id = p_chunk_id) x
  where c.id = x.id and c.status = 'processing' and c.lease = p_lease
  returning c.job_id, x.pages_done into v_job, v_before;
  if not found then
    return false;
  end if;
  if p_pages_done > v_before then
    perform conversion_progress(v_job);
  end if;
  perform refresh_hold(v_job, p_window);
  return true;
end
$$;

-- Ends a job that is not to go on: unfinished chunks end with it, the hold is released, the file tells why. An assembler
-- gives its lease, and fails nothing where it has lost it. True for the call that did it.
create function fail_conversion_job(p_job_id uuid, p_error text, p_lease uuid default null) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_file uuid;
  v_flyer uuid;
begin
  -- Its cost is summed up after the lock, so that what was booked just before is in it.
  perform from large_conversion_jobs where id = p_job_id for no key update;
  update large_conversion_jobs set
    status = 'failed', error = p_error, finished_at = v_now, updated_at = v_now, lease = null,
    total_cost_usd = conversion_cost(id)
  where id = p_job_id and status in ('pending', 'waiting_batch', 'processing', 'paused_budget', 'assembling')
    and (p_lease is null or lease = p_lease)
  returning file_id, (options ->> '_compedFlyerJobId')::uuid into v_file, v_flyer;
  if not found then
    return false;
  end if;
  update chunk_jobs set status = 'failed', lease = null, updated_at = v_now
  where job_id = p_job_id and status not in ('completed', 'failed');
  update files set status = 'failed', error = p_error, phase = null, updated_at = v_now
  where id = v_file and job_id = p_job_id and status = 'chunked_processing';
  -- A free reflow that failed may be chosen again.
  update flyer_jobs set comp_conversion_id = null, updated_at = v_now
  where id = v_flyer and comp_conversion_id = p_job_id;
  perform release_hold(p_job_id, 'failed');
  return true;
end
$$;

-- A chunk's result is stored. Books its costs whether or not it still counts. Answers `stale` (it was handed on, or
-- stopped: the result is to be dropped), `completed`, or `assembling` where it was the last one. The same call again is
-- answered as before.
create function complete_chunk(p_chunk_id uuid, p_lease uuid, p_result_key text, p_costs jsonb) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job large_conversion_jobs;
  v_done integer;
begin
  select j.* into v_job from large_conversion_jobs j
  where j.id = (select job_id from chunk_jobs where id = p_chunk_id)
  for no key update;
  perform book_costs(p_costs);
  if exists (select from chunk_jobs where id = p_chunk_id and status = 'completed' and lease = p_lease) then
    return case when v_job.status = 'assembling' then 'assembling' else 'completed' end;
  end if;
  update chunk_jobs set
    status = 'completed', result_key = p_result_key, pages_done = last_page - first_page + 1, updated_at = clock_timestamp()
  where id = p_chunk_id and status = 'processing' and lease = p_lease
    and v_job.status in ('pending', 'processing', 'paused_budget');
  if not found then
    return 'stale';
  end if;
  update large_conversion_jobs set
    done_chunks = done_chunks + 1, updated_at = clock_timestamp(),
    status = case when done_chunks + 1 >= total_chunks then 'assembling' else status end
  where id = v_job.id
  returning done_chunks into v_done;
  perform conversion_progress(v_job.id);
  return case when v_done >= v_job.total_chunks then 'assembling' else 'completed' end;
end
$$;

-- A chunk did not succeed: it is tried again in `p_retry_in`, but for the last of its attempts, which fails the job. Answers
-- `stale`, `pending` or `failed`.
create function fail_chunk(
  p_chunk_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_retry_in interval, p_max_attempts integer
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
  v_attempts integer;
begin
  select job_id into v_job from chunk_jobs where id = p_chunk_id;
  perform from large_conversion_jobs where id = v_job for no key update;
  perform book_costs(p_costs);
  update chunk_jobs set
    status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0, error = p_error,
    not_before = clock_timestamp() + p_retry_in, updated_at = clock_timestamp()
  where id = p_chunk_id and status = 'processing' and lease = p_lease
  returning attempts into v_attempts;
  if not found then
    return 'stale';
  end if;
  if v_attempts >= p_max_attempts then
    perform fail_conversion_job(v_job, p_error);
    return 'failed';
  end if;
  perform conversion_progress(v_job);
  return 'pending';
end
$$;

-- A worker that stops hands its chunk back, without counting the attempt.
create function hand_back_chunk(p_chunk_id uuid, p_lease uuid, p_costs jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  perform book_costs(p_costs);
  update chunk_jobs set
    status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0, attempts = attempts - 1,
    updated_at = clock_timestamp()
  where id = p_chunk_id and status = 'processing' and lease = p_lease
  returning job_id into v_job;
  if not found then
    return false;
  end if;
  perform conversion_progress(v_job);
  return true;
end
$$;

-- Orphan recovery: a chunk whose worker has not been heard of for `p_stale` goes back to `pending`; one that has used up its
-- attempts fails its job. One chunk a call, so that no two jobs are locked at once; answers how many.
create function recover_orphan_chunks(p_stale interval, p_max_attempts integer) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c record;
  v_count integer := 0;
begin
  for c in
    select id, job_id, lease, attempts from chunk_jobs
    where status = 'processing' and heartbeat_at < clock_timestamp() - p_stale
    order by heartbeat_at
    limit 1
  loop
    perform from large_conversion_jobs where id = c.job_id for no key update;
    update chunk_jobs set
      status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0,
      not_before = clock_timestamp(), updated_at = clock_timestamp()
    where id = c.id and status = 'processing' and lease = c.lease and heartbeat_at < clock_timestamp() - p_stale;
    continue when not found;
    v_count := v_count + 1;
    if c.attempts >= p_max_attempts then
      perform fail_conversion_job(c.job_id, 'Its worker died several times over one part of the document');
    else
      perform conversion_progress(c.job_id);
    end if;
  end loop;
  return v_count;
end
$$;

-- Claims the assembly of the oldest job whose chunks are all there; one whose assembler has not been heard of for `p_stale`
-- is claimed anew. The same call again gives the same job. `chunk_keys`: the chunks' results in their order, read in the
-- statement that sees that all are there.
create function claim_assembly(p_lease uuid, p_stale interval)
returns table (
  id uuid, file_id uuid, file_name text, attempts integer, options jsonb, total_pages integer, chunk_keys text[]
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update large_conversion_jobs j set
    lease = p_lease, heartbeat_at = clock_timestamp(), attempts = j.attempts + 1, updated_at = clock_timestamp()
  from (
    select x.id from large_conversion_jobs x
    where x.status = 'assembling'
      and (x.lease is null or x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
    order by x.lease is not distinct from p_lease desc, x.created_at
    limit 1
    for no key update skip locked
  ) n, files f
  where j.id = n.id and f.id = j.file_id
  returning j.id, j.file_id, f.name, j.attempts, j.options, j.total_pages,
    array(select c.result_key from chunk_jobs c where c.job_id = j.id order by c.chunk_index)
$$;

create function heartbeat_assembly(p_job_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update large_conversion_jobs set heartbeat_at = clock_timestamp()
  where id = p_job_id and lease = p_lease and status = 'assembling';
  if not found then
    return false;
  end if;
  perform refresh_hold(p_job_id, p_window);
  return true;
end
$$;

-- Gives an assembly up for another to take, without counting the attempt.
create function hand_back_assembly(p_job_id uuid, p_lease uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update large_conversion_jobs set lease = null, attempts = attempts - 1 where id = p_job_id and lease = p_lease and status = 'assembling';
  return found;
end
$$;

-- The result is stored under `p_result_key`: the job and its file are completed and the hold becomes the charge, all or
-- nothing. Answers `completed` (the same call again too), `stale`, or `insufficient`: the hold had lapsed and the funds are
-- spent, so that the job has failed.
create function finish_conversion_job(p_job_id uuid, p_lease uuid, p_result_key text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job large_conversion_jobs;
  v_now timestamptz;
begin
  select * into v_job from large_conversion_jobs where id = p_job_id for no key update;
  if not found or v_job.lease is distinct from p_lease then
    return 'stale';
  end if;
  if v_job.status = 'completed' then
    return 'completed';
  end if;
  if v_job.status <> 'assembling' then
    return 'stale';
  end if;
  perform from files where id = v_job.file_id for no key update;
  if settle_hold(p_job_id) = 'insufficient' then
    perform fail_conversion_job(p_job_id, 'Not enough credits were left when the result was ready');
    return 'insufficient';
  end if;
  v_now := clock_timestamp();
  update large_conversion_jobs set
    status = 'completed', finished_at = v_now, updated_at = v_now, total_cost_usd = conversion_cost(id)
  where id = p_job_id;
  update files set
    status = 'completed', result_key = p_result_key, done = total, phase = null, error = null, updated_at = v_now
  where id = v_job.file_id and job_id = p_job_id and status = 'chunked_processing';
  return 'completed';
end
$$;

-- Cancels a conversion: the job and every unfinished chunk, in one transaction, only from `pending`, `processing`,
-- `paused_budget` or `waiting_batch` (or still queued); the hold is released, a free reflow may be chosen again, and the
-- file (where `p_reset_file`) is as if it had just been uploaded. Answers `cancelled` (the same call again too), `finishing`
-- (assembling) or `not_active`.
create function cancel_conversion_job(p_job_id uuid, p_reset_file boolean default true) returns text
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

-- Deletes a file: a live conversion is cancelled first. Answers `deleted`, `not_found`, or `finishing` where its result is
-- just being assembled. The objects are removed by housekeeping.
create function delete_file(p_file_id uuid, p_customer_id uuid) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  loop
    select job_id into v_job from files where id = p_file_id and customer_id = p_customer_id and deleted_at is null;
    if not found then
      return 'not_found';
    end if;
    if v_job is not null and cancel_conversion_job(v_job, false) = 'finishing' then
      return 'finishing';
    end if;
    update files set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), name = ''
    where id = p_file_id and deleted_at is null and job_id is not distinct from v_job;
    -- Else it was deleted, or another conversion of it was asked for, at the same moment.
    exit when found;
  end loop;
  perform cancel_flyer_jobs_for_file(p_file_id, 'The file was deleted');
  perform release_hold(v_job, 'cancelled');
  return 'deleted';
end
$$;

-- Ends the flyer jobs of a file, and gives back what was set aside for them. One that is still running loses its claim.
create function cancel_flyer_jobs_for_file(p_file_id uuid, p_error text) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    update flyer_jobs set status = 'failed', error = p_error, lease = null, updated_at = clock_timestamp()
    where file_id = p_file_id and status in ('pending', 'processing')
    returning id
  loop
    perform release_hold(v_id, 'cancelled');
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- Puts jobs that may use a model on hold when the models cost more than `p_budget_usd` since midnight UTC, and lets them go
-- on when they do not; a null budget is none. Answers how many changed.
create function apply_model_budget(p_budget_usd numeric) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_spent boolean := p_budget_usd is not null and p_budget_usd <= (
    select coalesce(sum(cost_usd), 0) from cost_ledger
    where created_at >= date_trunc('day', clock_timestamp() at time zone 'utc') at time zone 'utc'
  );
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    update large_conversion_jobs set
      status = case when v_spent then 'paused_budget' else 'pending' end, updated_at = clock_timestamp()
    where id in (
      select id from large_conversion_jobs
      where (v_spent and status in ('pending', 'processing') and (options ->> 'highFidelity')::boolean)
        or (not v_spent and status = 'paused_budget')
      order by created_at, id
      for no key update
    )
    returning id
  loop
    perform conversion_progress(v_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- Sets right what a crash between two transactions could have left: a file that shows converting without a live job is as
-- its job ended; a hold of a job that has ended is released; a paused or waiting job keeps its funds. Answers how many.
create function sweep_conversions(p_window interval, p_stale interval) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r record;
  v_count integer := 0;
begin
  for r in
    select f.id, f.job_id, j.status, j.error from files f
    left join large_conversion_jobs j on j.id = f.job_id
    where f.status = 'chunked_processing' and f.deleted_at is null and f.updated_at < clock_timestamp() - p_stale
      and (j.id is null or j.status in ('completed', 'failed', 'cancelled'))
      and not exists (select from convert_queue q where q.job_id = f.job_id)
  loop
    update files set
      status = case when r.status is null or r.status = 'cancelled' then 'uploaded' else 'failed' end,
      error = r.error, phase = null, updated_at = clock_timestamp()
    where id = r.id and job_id is not distinct from r.job_id and status = 'chunked_processing';
    if found then
      v_count := v_count + 1;
    end if;
  end loop;
  for r in
    select h.job_id, j.status from funds_holds h
    join large_conversion_jobs j on j.id = h.job_id
    where h.state = 'held' and (
      j.status in ('failed', 'cancelled')
      or (j.status in ('pending', 'waiting_batch', 'processing', 'paused_budget', 'assembling')
        and h.expires_at < clock_timestamp() + p_window / 2)
    )
    order by h.customer_id
  loop
    if r.status not in ('failed', 'cancelled') then
      perform refresh_hold(r.job_id, p_window);
    elsif release_hold(r.job_id, r.status) then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end
$$;

-- Deletes a file of an account that was closed; one a call, so that no two jobs are locked at once. Answers how many.
create function delete_file_of_closed_account() returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f record;
begin
  for f in
    select x.id, x.customer_id from files x
    join customers c on c.id = x.customer_id
    where x.deleted_at is null and c.deleted_at is not null
    order by random()
    limit 1
  loop
    return case when delete_file(f.id, f.customer_id) = 'deleted' then 1 else 0 end;
  end loop;
  return 0;
end
$$;

select secure_function(f) from unnest(array[
  'book_costs(jsonb)', 'conversion_cost(uuid)', 'request_conversion(uuid, uuid, uuid, jsonb, interval, uuid)',
  'create_conversion_job(uuid, text, integer, jsonb)', 'claimed_chunk(uuid)', 'claim_chunk(text, uuid)',
  'conversion_progress(uuid)',
  'heartbeat_chunk(uuid, uuid, integer, interval)', 'fail_conversion_job(uuid, text, uuid)',
  'complete_chunk(uuid, uuid, text, jsonb)', 'fail_chunk(uuid, uuid, text, jsonb, interval, integer)',
  'hand_back_chunk(uuid, uuid, jsonb)', 'recover_orphan_chunks(interval, integer)', 'claim_assembly(uuid, interval)',
  'heartbeat_assembly(uuid, uuid, interval)', 'hand_back_assembly(uuid, uuid)',
  'finish_conversion_job(uuid, uuid, text)', 'cancel_conversion_job(uuid, boolean)', 'delete_file(uuid, uuid)',
  'cancel_flyer_jobs_for_file(uuid, text)', 'apply_model_budget(numeric)', 'sweep_conversions(interval, interval)',
  'delete_file_of_closed_account()'
]::regprocedure[]) as f;
