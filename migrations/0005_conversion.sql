-- Conversion: files, jobs and their chunks, Word documents and pictures, Preserve Formatting, bulk orders, shared links.
-- Rules: docs/reference/specification/documents.md.
--
-- Lock order: turn, job, batch row, chunk, file, flyer job, customer, hold; a function that needs fewer of them keeps the order. So
-- no two of these functions, nor those of the batch lane, can wait for each other. Upkeep that may end a job takes one a call.
--
-- Leased work (DOC-12 to DOC-14, C2). A worker claims chunks, assemblies, inline conversions and flyers, and mails in
-- 0007_inbound, under a lease: a UUID of its own. Each kind of work has the same functions, as far as it needs them:
--
--   claim_…(p_lease, p_stale, …)           the next owner's work that has waited longest, or whose worker has been silent
--                                          for `p_stale`; no row where there is none; counts an attempt
--   heartbeat_…(p_id, p_lease, p_window)   whether the lease holds; keeps the funds set aside for `p_window`
--   hand_back_…(p_id, p_lease, …)          whether the lease held; the attempt does not count
--   complete_…(p_id, p_lease, p_result_key, p_costs, …)   `completed`, `stale`, or why it failed free of charge
--   fail_…(p_id, p_lease, p_error, p_costs, p_max_attempts, …)   `pending` (it is tried again), `failed`, `stale`
--
-- Complete and fail take the same steps: book what the models cost, whether or not the work still counts; lock the rows;
-- `stale` where the lease is lost, which changes nothing; the answer of before where this lease has completed the work; the
-- funds; the result. A call whose answer was lost may be repeated with the same lease. Called by `ConversionStore` unless a
-- function says otherwise.


-- Tables

create table files (
  id uuid primary key default gen_random_uuid(),
  customer_id uuid not null references customers (id),
  name text not null,
  kind text not null check (kind in ('pdf', 'docx', 'png', 'jpeg')),
  size_bytes bigint not null check (size_bytes >= 0),
  pages integer not null check (pages > 0),
  -- DOC-2. `processing` is the inline path: Word documents and pictures, in one go.
  status text not null default 'uploaded'
    check (status in ('uploaded', 'processing', 'chunked_processing', 'completed', 'failed')),
  -- What is under way, in words.
  phase text,
  object_key text not null,
  -- The newest paid result (R1).
  result_key text,
  -- The newest conversion; its row may not be there yet (it is queued).
  job_id uuid,
  done integer not null default 0,
  total integer not null default 0,
  error text,
  -- The inline path: the options of the request, and the worker's lease.
  options jsonb not null default '{}',
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- When a deleted file's objects were removed.
  purged_at timestamptz,
  -- Of the result under `result_key`: pages from 1 that could not be read, those that no model converted though high fidelity
  -- was asked for, and whether it contains any text; null: not known (DOC-16, R2).
  unreadable_pages integer[] not null default '{}',
  no_model_pages integer[] not null default '{}',
  has_text boolean,
  -- Of the result: what it was made with (options, tiers, models), and when.
  made jsonb,
  made_at timestamptz,
  -- What a PDF holds that its pages do not show, and no conversion reads; null: nobody looked, or it is no PDF.
  left_out jsonb,
  -- Links to the result that were made until then are stopped (DOC-50).
  shares_from timestamptz,
  -- The inline path: when this attempt began.
  claimed_at timestamptz
);

-- Whom a file's result is shared with, by address as it was written. The links themselves are signed, not stored; each names its
-- share, and works for as long as that is here (DOC-50).
create table file_shares (
  file_id uuid not null references files (id) on delete cascade,
  email text not null check (email <> ''),
  id uuid not null default gen_random_uuid(),
  shared_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (file_id, email)
);

create index file_shares_email on file_shares (lower(email));

create index files_customer on files (customer_id, created_at desc, id desc) where deleted_at is null;
create index files_live on files (status, updated_at) where status in ('processing', 'chunked_processing');
-- Inline conversions by owner: those that wait, oldest first, and those under a lease.
create index files_inline on files (customer_id, updated_at) where status = 'processing' and deleted_at is null;
create index files_inline_claimed on files (customer_id, lease) where status = 'processing' and lease is not null;
-- Inline conversions, what moved last first.
create index files_inline_moved on files (updated_at desc, job_id desc)
where kind <> 'pdf' and job_id is not null and deleted_at is null;
-- What a charge of the inline path was for.
create index files_job on files (job_id) where job_id is not null;
create index files_to_purge on files (deleted_at) where deleted_at is not null and purged_at is null;

-- The turns of owners on the inline path (DOC-12, H3): until when an owner has used up their share. Owners who have not go
-- first.
create table inline_turns (
  customer_id uuid primary key references customers (id) on delete cascade,
  busy_until timestamptz not null default '-infinity'
);

-- Whose work of a kind was given out last: owners take turns in the order of their ids (DOC-12), so that the next one is found
-- by one look into an index, however many owners and pieces of work wait.
create table work_turns (
  kind text primary key check (kind in ('request', 'chunk', 'flyer', 'mail')),
  customer_id uuid not null default '00000000-0000-0000-0000-000000000000'
) with (fillfactor = 50);

insert into work_turns (kind) values ('request'), ('chunk'), ('flyer'), ('mail');

-- The queue `convert`: conversions that were requested, until the executor on the leader makes their jobs (DOC-10).
create table convert_queue (
  job_id uuid primary key,
  file_id uuid not null references files (id),
  customer_id uuid not null references customers (id),
  options jsonb not null,
  bulk_id uuid,
  created_at timestamptz not null default now()
);

create index convert_queue_next on convert_queue (customer_id, created_at);

-- Jobs (DOC-11).
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
  -- The assembly: the worker's lease.
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz
);

create index large_conversion_jobs_newest on large_conversion_jobs (created_at desc, id desc);
create index large_conversion_jobs_status on large_conversion_jobs (status, created_at desc, id desc);
create index large_conversion_jobs_failed on large_conversion_jobs (finished_at) where status = 'failed';
create index large_conversion_jobs_file on large_conversion_jobs (file_id, created_at desc);
create index large_conversion_jobs_bulk on large_conversion_jobs (bulk_id) where bulk_id is not null;
create index large_conversion_jobs_open on large_conversion_jobs (customer_id, created_at, id)
where status in ('pending', 'processing');
create index large_conversion_jobs_waiting on large_conversion_jobs (created_at, id) where status = 'waiting_batch';

create table chunk_jobs (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null references large_conversion_jobs (id),
  chunk_index integer not null check (chunk_index >= 0),
  -- Pages from 0, the last one included.
  first_page integer not null default 0,
  last_page integer not null default 0,
  -- `paused_budget` is written by hand only: the product pauses the job, and resumes such chunks with it.
  status text not null default 'pending' check (status in (
    'pending', 'waiting_batch', 'processing', 'paused_budget', 'completed', 'failed', 'cancelled'
  )),
  worker text,
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  pages_done integer not null default 0,
  -- Of its result: pages that the model or the account refused, or gave no answer to; the alarm `no_model` counts them.
  unanswered_pages integer not null default 0,
  -- Of its result: pages that were answered from batch results.
  served_pages integer not null default 0,
  result_key text,
  error text,
  -- The owner's, by whom chunks are claimed in turns.
  customer_id uuid not null,
  -- That of the job, so that the oldest job's chunks are found first.
  queued_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (job_id, chunk_index)
);

create index chunk_jobs_next on chunk_jobs (customer_id, queued_at, job_id, chunk_index) where status = 'pending';
create index chunk_jobs_running on chunk_jobs (heartbeat_at) where status = 'processing';
create index chunk_jobs_unanswered on chunk_jobs (updated_at) where unanswered_pages > 0;
create index chunk_jobs_of_owner on chunk_jobs (customer_id, lease) where status = 'processing';

-- What models cost (K1): a row for each chunk attempt (source `chunk-scheduler`), inline conversion, batch job and so on.
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

-- Preserve Formatting: a flyer, and the free reflow that a customer may choose instead (DOC-32, DOC-42).
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
  updated_at timestamptz not null default now(),
  -- Of the result: pages from 1 that could not be read.
  unreadable_pages integer[] not null default '{}'
);

create index flyer_jobs_moved on flyer_jobs (updated_at desc, id desc);
create index flyer_jobs_file on flyer_jobs (file_id, created_at desc);
create index flyer_jobs_next on flyer_jobs (customer_id, created_at) where status = 'pending';
create index flyer_jobs_running on flyer_jobs (customer_id, lease) where status = 'processing';

-- Bulk orders, each with its one completion message (DOC-51).
create table bulk_orders (
  id uuid primary key default gen_random_uuid(),
  customer_id uuid not null references customers (id),
  created_at timestamptz not null default clock_timestamp(),
  -- When its last item was seen to have ended; links in its message hold from then.
  ended_at timestamptz,
  -- Its message: a process is sending it until then; how often that was begun; when it was sent or given up.
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

-- The key of the links that show a result to anybody who has them (DOC-50): kept here and nowhere else.
create table share_keys (
  id smallint primary key default 1 check (id = 1),
  key bytea not null check (octet_length(key) = 32),
  created_at timestamptz not null default now()
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into share_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));


-- The object stores of this installation: the identity that the first process to come found or wrote in its store. A process
-- whose store has another one works on no files. Called by `StoreIdentities`.
create table object_stores (
  name text primary key check (name in ('files', 'batch')),
  identity text not null,
  -- The bucket, with its endpoint; null for a folder.
  place text,
  known_since timestamptz not null default clock_timestamp()
);


-- Costs and progress, shared by what follows

-- A job's whole cost (BATCH-31): its ledger rows but for the batch job's, and the batch job's as stamped on resume. Called by
-- `JobReport`, and where a job ends.
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

-- Books model costs; an entry whose id is there is booked already. Keys of an entry: id, job_id, chunk_id, source, backend,
-- model, input_tokens, output_tokens, cost_usd, metadata. A job that has ended gets a new total. Called with the answers of
-- workers, by `ConversionStore` and by `BatchStore`.
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

-- Writes a job's progress on its file, as long as the file is still converting by this job (C3). A job whose number of chunks
-- was not written down has as many as there are. The file is locked before the chunks are counted: a count from before a wait
-- would put back what another chunk had written meanwhile.
create function conversion_progress(p_job_id uuid) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select from files f
  where f.id = (select j.file_id from large_conversion_jobs j where j.id = p_job_id)
  for no key update;
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
      j.file_id, j.status, greatest(j.total_chunks, count(c.id)) as total,
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


-- A file comes in

-- Enters a file; the same file a second time changes nothing. Returns `added` or `full`: how many files, and how many bytes,
-- a customer keeps is limited by plan (DOC-1). Uploads of one customer come one after another, so that none of them counts
-- without the others: it locks the customer alone, for the file is new.
create function add_file(
  p_id uuid, p_customer_id uuid, p_name text, p_kind text, p_size_bytes bigint, p_pages integer, p_object_key text,
  p_limits jsonb, p_left_out jsonb default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_limit jsonb;
  v_files bigint;
  v_bytes numeric;
begin
  select p_limits -> plan_type into v_limit from customers where id = p_customer_id for no key update;
  if exists (select from files where id = p_id) then
    return 'added';
  end if;
  select count(*), coalesce(sum(size_bytes), 0) into v_files, v_bytes
  from files where customer_id = p_customer_id and deleted_at is null;
  if v_files >= (v_limit ->> 'files')::bigint or v_bytes + p_size_bytes > (v_limit ->> 'bytes')::numeric then
    return 'full';
  end if;
  insert into files (id, customer_id, name, kind, size_bytes, pages, object_key, left_out)
  values (p_id, p_customer_id, p_name, p_kind, p_size_bytes, p_pages, p_object_key, p_left_out);
  return 'added';
end
$$;


-- A conversion is requested, becomes a job, and may fail

-- Requests a conversion (DOC-10): the file turns to converting, funds are set aside and the queue `convert` holds the
-- request, all or nothing. Returns `queued`, `not_found`, `active` (another one is under way) or `insufficient`. The same
-- call again returns `queued`. A comped one (options `_compedFlyerJobId`) sets no funds aside. Lock order: file, customer,
-- hold.
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
-- is not queued any more (made, or cancelled, meanwhile). Called by the executor on the leader. Lock order: request, job,
-- chunks, file, turn of requests, which nobody holds who waits for these.
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
  insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, customer_id, queued_at)
  select q.job_id, i, i * p_chunk_pages, least((i + 1) * p_chunk_pages, v_pages) - 1, p_status, q.customer_id, v_now
  from generate_series(0, v_chunks - 1) as i;
  update files set
    phase = case when p_status = 'waiting_batch' then 'Waiting for batch' else format('Queued: 0/%s chunks', v_chunks) end,
    updated_at = v_now
  where id = q.file_id and job_id = q.job_id and status = 'chunked_processing';
  update work_turns set customer_id = q.customer_id where kind = 'request';
  return true;
end
$$;

-- Ends a job that is not to go on: unfinished chunks end with it, the hold is released, the file gets the reason. An
-- assembler gives its lease, and fails nothing where it has lost it. True for the call that did it. Lock order: job, chunks,
-- file, flyer job, customer, hold.
create function fail_conversion_job(p_job_id uuid, p_error text, p_lease uuid default null) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_file uuid;
  v_flyer uuid;
begin
  -- Its cost is summed up under the lock, so that it includes what was booked just before.
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


-- Chunks: claim, heartbeat, complete, fail, hand back, recover (DOC-12 to DOC-14, C1, C2)

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

-- Claims the next chunk of an owner's oldest job that can be worked on; no row where there is none. Without `p_primed` jobs with
-- batch results are left to workers that can read these. It looks at eight jobs, and
-- then at those alone that are not paused: thousands of jobs may wait for the next day's budget. Lock order: job, chunk, file.
create function claim_chunk_of(p_customer_id uuid, p_lease uuid, p_worker text, p_primed boolean) returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_chunk uuid;
  v_queued timestamptz := '-infinity';
  v_job uuid := '00000000-0000-0000-0000-000000000000';
begin
  for i in 1..9 loop
    if i < 9 then
      -- One job after another by the index: a job of thousands of chunks is stepped over at once.
      select c.queued_at, c.job_id into v_queued, v_job from chunk_jobs c
      where c.status = 'pending' and c.customer_id = p_customer_id and (c.queued_at, c.job_id) > (v_queued, v_job)
        and c.not_before <= clock_timestamp()
      order by c.queued_at, c.job_id
      limit 1;
    else
      select c.queued_at, j.id into v_queued, v_job
      from large_conversion_jobs j
      cross join lateral (
        select x.queued_at from chunk_jobs x
        where x.job_id = j.id and x.status = 'pending' and x.customer_id = p_customer_id and x.not_before <= clock_timestamp()
        limit 1
      ) c
      where j.customer_id = p_customer_id and j.status in ('pending', 'processing')
        and (p_primed or not j.options @> '{"_batchPrimed": true}')
      order by j.created_at, j.id
      limit 1;
    end if;
    exit when not found;
    perform from large_conversion_jobs j
    where j.id = v_job and j.status in ('pending', 'processing') and (p_primed or not j.options @> '{"_batchPrimed": true}')
    for no key update;
    continue when not found;
    select c.id into v_chunk from chunk_jobs c
    where c.customer_id = p_customer_id and c.queued_at = v_queued and c.job_id = v_job and c.status = 'pending'
      and c.not_before <= clock_timestamp()
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
    return v_chunk;
  end loop;
  return null;
end
$$;

-- The next flyer job of an owner, locked: the oldest one that waits and that no other call has locked.
create function next_flyer_of(p_customer_id uuid) returns uuid
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.id from flyer_jobs x
  where x.status = 'pending' and x.customer_id = p_customer_id
  order by x.created_at
  limit 1
  for no key update skip locked
$$;

-- The first owner behind `p_owner`, in the order of ids, of whom work of a kind waits.
create function next_owner_waiting(p_kind text, p_owner uuid default '00000000-0000-0000-0000-000000000000') returns uuid
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

-- The walk over owners for each kind of leased work (DOC-12): owners take turns, and one has at most `p_per_owner` pieces of
-- the kind in progress; null: any number. A chunk comes back claimed, a flyer job locked; null where nothing can be claimed.
-- It looks at 32 owners, and the next claim goes on with those behind them. Claims of a kind come one after another, those of
-- two kinds do not meet; where nothing waits they lock nothing. Lock order: the kind's turn, then what it claims: job, chunk,
-- file, or the flyer job.
create function claim_in_turn(p_kind text, p_lease uuid, p_worker text, p_per_owner integer, p_primed boolean default true)
returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_start uuid;
  v_owner uuid;
  v_work uuid;
  v_wrapped boolean := false;
begin
  if next_owner_waiting(p_kind) is null then
    return null;
  end if;
  -- The next claim waits for this one's commit, which need not wait for the disk: a claim that a crash of the server undoes is no
  -- claim, and its worker's next heartbeat ends it (DOC-13).
  perform set_config('synchronous_commit', 'off', true);
  select t.customer_id into v_start from work_turns t where t.kind = p_kind for no key update;
  v_owner := v_start;
  for i in 1..32 loop
    v_owner := next_owner_waiting(p_kind, v_owner);
    if v_owner is null and not v_wrapped then
      v_wrapped := true;
      v_owner := next_owner_waiting(p_kind);
    end if;
    -- All that wait were looked at.
    if v_owner is null or (v_wrapped and v_owner > v_start) then
      return null;
    end if;
    continue when p_per_owner <= case p_kind
      when 'chunk' then (select count(*) from chunk_jobs c where c.status = 'processing' and c.customer_id = v_owner)
      when 'flyer' then (select count(*) from flyer_jobs x where x.status = 'processing' and x.customer_id = v_owner)
    end;
    v_work := case p_kind
      when 'chunk' then claim_chunk_of(v_owner, p_lease, p_worker, p_primed)
      when 'flyer' then next_flyer_of(v_owner)
    end;
    exit when v_work is not null;
  end loop;
  update work_turns t set customer_id = v_owner where t.kind = p_kind;
  return v_work;
end
$$;

-- Claims a chunk (`claim_in_turn`). Stale ones come back by orphan recovery. The same call again returns the same chunk. Lock
-- order: turn, job, chunk, file.
create function claim_chunk(
  p_lease uuid, p_worker text, p_per_owner integer default null, p_primed boolean default true
)
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
begin
  select c.id into v_chunk from chunk_jobs c where c.status = 'processing' and c.lease = p_lease;
  v_chunk := coalesce(v_chunk, claim_in_turn('chunk', p_lease, p_worker, p_per_owner, p_primed));
  return query select * from claimed_chunk(v_chunk) where v_chunk is not null;
end
$$;

-- A running chunk is alive and has `p_pages_done` pages. False: it was handed on or stopped, and has to end at once (DOC-13).
-- Lock order: chunk, file, customer, hold.
create function heartbeat_chunk(p_id uuid, p_lease uuid, p_window interval, p_pages_done integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
  v_before integer;
begin
  select c.job_id, c.pages_done into v_job, v_before from chunk_jobs c
  where c.id = p_id and c.status = 'processing' and c.lease = p_lease
  for no key update;
  if not found then
    return false;
  end if;
  update chunk_jobs set heartbeat_at = clock_timestamp(), pages_done = greatest(v_before, p_pages_done) where id = p_id;
  if p_pages_done > v_before then
    perform conversion_progress(v_job);
  end if;
  perform refresh_hold(v_job, p_window);
  return true;
end
$$;

-- A chunk's result is stored. Returns `assembling` in place of `completed` where it was the last one: a job is assembled when
-- none of its chunks is unfinished, whatever number of them was written down (DOC-14). `stale`: the result is to be dropped.
-- Lock order: job, chunk, file.
create function complete_chunk(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_unanswered integer default 0,
  p_served integer default 0
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c chunk_jobs;
  j large_conversion_jobs;
  v_whole boolean;
begin
  perform book_costs(p_costs);
  select * into j from large_conversion_jobs where id = (select job_id from chunk_jobs where id = p_id) for no key update;
  select * into c from chunk_jobs where id = p_id for no key update;
  if not found or c.lease is distinct from p_lease then
    return 'stale';
  end if;
  if c.status = 'completed' then
    return case when j.status = 'assembling' then 'assembling' else 'completed' end;
  end if;
  if c.status <> 'processing' or j.status not in ('pending', 'processing', 'paused_budget') then
    return 'stale';
  end if;
  update chunk_jobs set
    status = 'completed', result_key = p_result_key, pages_done = last_page - first_page + 1, unanswered_pages = p_unanswered,
    served_pages = p_served, updated_at = clock_timestamp()
  where id = p_id;
  v_whole := not exists (select from chunk_jobs where job_id = j.id and status <> 'completed');
  update large_conversion_jobs set
    done_chunks = done_chunks + 1, updated_at = clock_timestamp(),
    status = case when v_whole then 'assembling' else status end
  where id = j.id;
  perform conversion_progress(j.id);
  return case when v_whole then 'assembling' else 'completed' end;
end
$$;

-- A chunk did not succeed: it is tried again in `p_retry_in`; its last attempt fails the job. Lock order: job, chunk, then as
-- `fail_conversion_job`.
create function fail_chunk(
  p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer, p_retry_in interval
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c chunk_jobs;
begin
  perform book_costs(p_costs);
  perform from large_conversion_jobs where id = (select job_id from chunk_jobs where id = p_id) for no key update;
  update chunk_jobs set
    status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0, error = p_error,
    not_before = clock_timestamp() + p_retry_in, updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning * into c;
  if not found then
    return 'stale';
  end if;
  if c.attempts >= p_max_attempts then
    perform fail_conversion_job(c.job_id, p_error);
    return 'failed';
  end if;
  perform conversion_progress(c.job_id);
  return 'pending';
end
$$;

-- A worker that stops, or whose chunk has to wait for `p_retry_in`, hands it back: the attempt does not count. Books its costs.
-- Lock order: job, chunk, file.
create function hand_back_chunk(p_id uuid, p_lease uuid, p_costs jsonb, p_retry_in interval default '0')
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  perform book_costs(p_costs);
  update chunk_jobs set
    status = 'pending', lease = null, worker = null, heartbeat_at = null, pages_done = 0, attempts = attempts - 1,
    not_before = clock_timestamp() + p_retry_in, updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning job_id into v_job;
  if not found then
    return false;
  end if;
  perform conversion_progress(v_job);
  return true;
end
$$;

-- Makes the chunks of a job that was written by hand without any, as the executor would have made them. Its caller holds the
-- job.
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
  -- First: chunks of a job that does not say how many it has share out its pages by a trigger.
  update large_conversion_jobs set total_chunks = v_chunks where id = p_job_id;
  insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, customer_id, queued_at)
  select p_job_id, i, i * p_chunk_pages, least((i + 1) * p_chunk_pages, j.total_pages) - 1,
    case when j.status = 'waiting_batch' then 'waiting_batch' else 'pending' end, j.customer_id, j.created_at
  from generate_series(0, v_chunks - 1) as i;
  return true;
end
$$;

-- Orphan recovery (DOC-12, C4): a chunk whose worker has been silent for `p_stale` goes back to `pending`; one that has used
-- up its attempts fails its job. A chunk without a heartbeat, which no worker of Postlane claimed, counts from when it was
-- written. A job without chunks would not move either, and gets them after `p_stale`, the time to write them by hand.
-- One chunk or job a call, so that no two jobs are locked at once; returns how many. Called by the leader's upkeep.
create function recover_orphan_chunks(p_stale interval, p_max_attempts integer) returns integer
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


-- The assembly: claim, heartbeat, hand back, complete; `fail_conversion_job` fails it (DOC-14)

-- Claims the assembly of the oldest job whose chunks are all there; the same call again counts no other attempt. `chunk_keys`: the chunks' results in their order, read in
-- the statement that sees that all are there.
--
-- The row to claim is chosen in a materialized expression, here and in every other claim: that runs once. A subquery in
-- `from` may run again for each row that it is joined with, and with claimed rows skipped each run would choose the next
-- row, so that one claim would take everything that waits.
create function claim_assembly(p_lease uuid, p_stale interval)
returns table (
  id uuid, file_id uuid, file_name text, attempts integer, options jsonb, total_pages integer, chunk_keys text[]
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from large_conversion_jobs x
    where x.status = 'assembling'
      and (x.lease is null or x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
    order by x.lease is not distinct from p_lease desc, x.created_at
    limit 1
    for no key update skip locked
  )
  update large_conversion_jobs j set
    lease = p_lease, heartbeat_at = clock_timestamp(), updated_at = clock_timestamp(),
    attempts = j.attempts + (j.lease is distinct from p_lease)::integer
  from n, files f
  where j.id = n.id and f.id = j.file_id
  returning j.id, j.file_id, f.name, j.attempts, j.options, j.total_pages,
    array(select c.result_key from chunk_jobs c where c.job_id = j.id order by c.chunk_index)
$$;

-- The assembly is alive. Lock order: job, customer, hold.
create function heartbeat_assembly(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update large_conversion_jobs set heartbeat_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'assembling';
  if not found then
    return false;
  end if;
  perform refresh_hold(p_id, p_window);
  return true;
end
$$;

-- A worker that stops hands its assembly back.
create function hand_back_assembly(p_id uuid, p_lease uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update large_conversion_jobs set lease = null, attempts = attempts - 1
  where id = p_id and lease = p_lease and status = 'assembling';
  return found;
end
$$;

-- The result is stored: the job and its file are completed and the hold becomes the charge for the pages that could be read,
-- all or nothing (DOC-16, F2). Returns `insufficient` where the hold had lapsed and the funds are spent, `unreadable` where no
-- page could be read: then the job has failed, free of charge. Lock order: job, file, customer, hold.
create function complete_assembly(
  p_id uuid, p_lease uuid, p_result_key text, p_unreadable integer[] default '{}', p_has_text boolean default null,
  p_no_model integer[] default '{}', p_made jsonb default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j large_conversion_jobs;
  v_now timestamptz;
  v_lost integer := cardinality(p_unreadable);
begin
  select * into j from large_conversion_jobs where id = p_id for no key update;
  if not found or j.lease is distinct from p_lease then
    return 'stale';
  end if;
  if j.status = 'completed' then
    return 'completed';
  end if;
  if j.status <> 'assembling' then
    return 'stale';
  end if;
  perform from files where id = j.file_id for no key update;
  if v_lost > 0 and v_lost >= j.total_pages then
    perform fail_conversion_job(p_id, 'No page of this document could be read. Print it to PDF anew, then upload it again.');
    return 'unreadable';
  end if;
  if settle_hold(p_id, case when v_lost > 0 then j.total_pages - v_lost end) = 'insufficient' then
    perform fail_conversion_job(p_id, 'Not enough credits were left when the result was ready');
    return 'insufficient';
  end if;
  v_now := clock_timestamp();
  update large_conversion_jobs set
    status = 'completed', finished_at = v_now, updated_at = v_now, total_cost_usd = conversion_cost(id)
  where id = p_id;
  update files set
    status = 'completed', result_key = p_result_key, done = total, phase = null, error = null,
    unreadable_pages = p_unreadable, no_model_pages = p_no_model, has_text = p_has_text, made = p_made,
    made_at = v_now, updated_at = v_now
  where id = j.file_id and job_id = p_id and status = 'chunked_processing';
  return 'completed';
end
$$;


-- Cancel and delete (DOC-4, DOC-40 to DOC-42, X1, X2)

-- Cancels a conversion: the job and every unfinished chunk, in one transaction, only from `pending`, `processing`,
-- `paused_budget` or `waiting_batch` (or still queued); the hold is released, a free reflow may be chosen again, and the
-- file (where `p_reset_file`) is as if it had just been uploaded. A parked job's batch row, and one whose batch job still
-- runs after process-now, is closed out with it (BATCH-41). Returns `cancelled` (the same call again too), `finishing`
-- (assembling) or `not_active`. Lock order: job, batch row, chunks, file, flyer job, customer, hold.
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

-- Ends the flyer jobs of a file and releases what was set aside for them. A running one loses its claim (DOC-42). Lock order:
-- flyer jobs, customer, hold.
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

-- Stops a flyer that is being made, without deleting its file. A running one loses its claim; it is `failed`, and what was
-- set aside is released (DOC-42). Returns `cancelled` (the same call again too), `not_active` or `not_found`. Lock order:
-- flyer job, customer, hold.
create function cancel_flyer_job(p_id uuid, p_customer_id uuid, p_error text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
begin
  select * into j from flyer_jobs where id = p_id and customer_id = p_customer_id for no key update;
  if not found then
    return 'not_found';
  end if;
  if j.status = 'failed' and j.error = p_error then
    return 'cancelled';
  end if;
  if j.status not in ('pending', 'processing') then
    return 'not_active';
  end if;
  update flyer_jobs set status = 'failed', error = p_error, lease = null, updated_at = clock_timestamp() where id = p_id;
  perform release_hold(p_id, 'cancelled');
  return 'cancelled';
end
$$;

-- Deletes a file: a live conversion is cancelled first. Returns `deleted`, `not_found`, or `finishing` while its result is
-- being assembled. The objects are removed by housekeeping.
--
-- Lock order: as `cancel_conversion_job`, then file, flyer jobs, customer, hold. An update that waited for a row which then
-- no longer qualifies keeps it locked: a file that was being deleted when another conversion of it was requested would be
-- held while the next round waited for that conversion's job, the other way round from everybody else. Each round is rolled
-- back with its locks before the next one begins.
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
    begin
      if v_job is not null and cancel_conversion_job(v_job, false) = 'finishing' then
        return 'finishing';
      end if;
      update files set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), name = '', left_out = null
      where id = p_file_id and deleted_at is null and job_id is not distinct from v_job;
      if found then
        exit;
      end if;
      -- It was deleted, or another conversion of it was requested, at the same moment.
      raise exception using errcode = 'PL001', message = 'the file changed';
    exception when sqlstate 'PL001' then
      null;
    end;
  end loop;
  perform cancel_flyer_jobs_for_file(p_file_id, 'The user stopped the conversion: the file was deleted');
  perform release_hold(v_job, 'cancelled');
  delete from file_shares where file_id = p_file_id;
  return 'deleted';
end
$$;

-- Deletes a file of an account that was closed; one a call, so that no two jobs are locked at once. Returns how many. Called
-- by the leader's upkeep.
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


-- Upkeep on the leader

-- What models have cost since midnight UTC.
create function model_cost_today() returns numeric
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select coalesce(sum(cost_usd), 0) from cost_ledger
  where created_at >= date_trunc('day', clock_timestamp() at time zone 'utc') at time zone 'utc'
$$;

-- Pauses jobs that use a model once models have cost `p_budget_usd` since midnight UTC, and resumes them, with chunks that
-- were paused, when they have not; a null budget is none (DOC-22). Jobs that use one: high fidelity, math OCR and the harness
-- model, but not the layout tier (`usesCascade` and `isWholeChunk` in the domain decide the same). One with batch results goes
-- on: what it needs is paid for, and its worker asks for nothing else. Options of another type count as not given. Returns how
-- many changed. Lock order: jobs by age, then chunks and file of each.
create function apply_model_budget(p_budget_usd numeric) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_spent boolean := p_budget_usd is not null and p_budget_usd <= model_cost_today();
  v_id uuid;
  v_status text;
  v_count integer := 0;
begin
  for v_id, v_status in
    update large_conversion_jobs set
      status = case when status = 'paused_budget' then 'pending' else 'paused_budget' end, updated_at = clock_timestamp()
    where id in (
      select id from large_conversion_jobs
      where (v_spent and status in ('pending', 'processing') and options ->> 'parser' is distinct from 'layout' and (
          options @> '{"highFidelity": true}' or options @> '{"mathOcr": true}' or options @> '{"parser": "harness"}'
        ) and not options @> '{"_batchPrimed": true}')
        or (status = 'paused_budget' and (not v_spent or options @> '{"_batchPrimed": true}'))
      order by created_at, id
      for no key update
    )
    returning id, status
  loop
    if v_status = 'pending' then
      update chunk_jobs set status = 'pending', updated_at = clock_timestamp()
      where job_id = v_id and status = 'paused_budget';
    end if;
    perform conversion_progress(v_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- Repairs what a crash between two transactions could have left (C3, C4, X1): a file that shows converting without a live
-- job is as its job ended; a hold of a job that has ended is released; what waits or is under way – a request, a job, a document, a flyer, a mail – keeps
-- its funds. Returns how many. Lock order: files, then customers and holds by customer.
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
    left join large_conversion_jobs j on j.id = h.job_id
    where h.state = 'held' and (
      j.status in ('failed', 'cancelled')
      or (h.expires_at < clock_timestamp() + p_window / 2 and (
        j.status in ('pending', 'waiting_batch', 'processing', 'paused_budget', 'assembling')
        or exists (select from convert_queue q where q.job_id = h.job_id)
        or exists (
          select from files f
          where f.customer_id = h.customer_id and f.job_id = h.job_id and f.status = 'processing' and f.deleted_at is null
        )
        or exists (select from flyer_jobs x where x.id = h.job_id and x.status in ('pending', 'processing'))
        or exists (select from intake_mails m where m.id = h.job_id and m.step = 'converting')
      ))
    )
    order by h.customer_id
  loop
    if r.status in ('failed', 'cancelled') then
      v_count := v_count + release_hold(r.job_id, r.status)::integer;
    else
      perform refresh_hold(r.job_id, p_window);
    end if;
  end loop;
  return v_count;
end
$$;


-- Inline conversions of Word documents and pictures (file status `processing`, no chunk job): claim, heartbeat, complete, fail

-- Claims a file of the owner whose turn it is: owners take turns, and one owner's documents, however many and however long each
-- takes, hold up another's by one at most (H3). The same call again returns the same file. Lock order: turn, file. The owner's turn is locked before one of their files is claimed, so that two workers never
-- claim two files of one owner at once; it waits for no lock while it holds that one.
create function claim_inline(p_lease uuid, p_stale interval)
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
    for v_owner in
      -- From owner to owner by the index, and of each the oldest file alone.
      with recursive owners as (
        (
          select f.customer_id from files f where f.status = 'processing' and f.deleted_at is null
          order by f.customer_id limit 1
        )
        union all
        select (
          select f.customer_id from files f
          where f.status = 'processing' and f.deleted_at is null and f.customer_id > o.customer_id
          order by f.customer_id limit 1
        )
        from owners o where o.customer_id is not null
      )
      select o.customer_id from owners o
      left join inline_turns t on t.customer_id = o.customer_id
      cross join lateral (
        select f.updated_at as oldest from files f
        where f.customer_id = o.customer_id and f.status = 'processing' and f.deleted_at is null
        order by f.updated_at limit 1
      ) w
      where not exists (
        select from files f
        where f.customer_id = o.customer_id and f.status = 'processing' and f.lease is not null and f.deleted_at is null
          and f.heartbeat_at >= v_now - p_stale
      )
      order by greatest(t.busy_until, v_now), w.oldest
      limit 8
    loop
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

-- The conversion is alive. Lock order: file, customer, hold.
create function heartbeat_inline(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  update files set heartbeat_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing' and deleted_at is null
  returning job_id into v_job;
  if not found then
    return false;
  end if;
  perform refresh_hold(v_job, p_window);
  return true;
end
$$;

-- The result is stored: the file is completed and the hold becomes the charge, for `p_pages` where they were counted from the
-- result (null: as held; R2). Returns `insufficient` where there are no funds for them: then the file has failed. A worker
-- whose answer was lost asks again; by then the file may be converted anew, under another lease: a result that the file shows
-- was accepted (R1). Lock order: file, customer, hold.
create function complete_inline(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_pages integer default null, p_has_text boolean default null,
  p_no_model integer[] default '{}', p_made jsonb default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  select * into f from files where id = p_id for no key update;
  if not found or f.deleted_at is not null then
    return 'stale';
  end if;
  if f.result_key = p_result_key then
    return 'completed';
  end if;
  if f.lease is distinct from p_lease or f.status <> 'processing' then
    return 'stale';
  end if;
  if not widen_hold(f.job_id, p_pages) or settle_hold(f.job_id, p_pages) = 'insufficient' then
    update files set
      status = 'failed', phase = null, error = 'Not enough credits were left when the result was ready',
      updated_at = clock_timestamp()
    where id = p_id;
    perform release_hold(f.job_id, 'failed');
    return 'insufficient';
  end if;
  update files set
    status = 'completed', result_key = p_result_key, phase = null, error = null, pages = coalesce(p_pages, pages),
    total = coalesce(p_pages, total), done = coalesce(p_pages, total), unreadable_pages = '{}', no_model_pages = p_no_model,
    has_text = p_has_text, made = p_made, made_at = clock_timestamp(), updated_at = clock_timestamp()
  where id = p_id;
  return 'completed';
end
$$;

-- An inline conversion did not succeed: the file waits again; its last attempt fails it, free of charge. Without
-- `p_max_attempts` the worker stops and hands the file back: the attempt does not count. Lock order: file, customer, hold.
create function fail_inline(p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  update files set
    status = case when attempts >= p_max_attempts then 'failed' else 'processing' end, lease = null,
    error = case when attempts >= p_max_attempts then p_error end,
    phase = case when attempts >= p_max_attempts then null else 'Queued' end,
    attempts = attempts - (p_max_attempts is null)::integer, updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning * into f;
  if not found then
    return 'stale';
  end if;
  if f.status = 'failed' then
    perform release_hold(f.job_id, 'failed');
    return 'failed';
  end if;
  return 'pending';
end
$$;

-- Charges the time of an attempt to its owner's turn, however it ended: reported, deleted, or taken over from a worker that
-- died. One without a result counts for more.
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


-- Preserve Formatting: request, claim, heartbeat, complete, fail, and the free reflow

-- Requests a flyer of a PDF. Returns `queued`, `not_found`, `unsupported` (not a PDF), `active` or `insufficient`. Lock
-- order: file, customer, hold.
create function request_flyer(p_id uuid, p_file_id uuid, p_customer_id uuid, p_window interval) returns text
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
  if f.kind <> 'pdf' then
    return 'unsupported';
  end if;
  if exists (select from flyer_jobs where id = p_id) then
    return 'queued';
  end if;
  if f.status in ('processing', 'chunked_processing')
    or exists (select from flyer_jobs x where x.file_id = f.id and x.status in ('pending', 'processing')) then
    return 'active';
  end if;
  if not place_hold(p_customer_id, p_id, f.pages, p_window) then
    return 'insufficient';
  end if;
  insert into flyer_jobs (id, file_id, customer_id) values (p_id, p_file_id, p_customer_id);
  return 'queued';
end
$$;

-- Claims a flyer job (`claim_in_turn`); before those that wait one whose worker has been silent. The same call again returns the
-- same job. Lock order: turn, flyer job.
create function claim_flyer(p_lease uuid, p_stale interval, p_per_owner integer default null)
returns table (id uuid, file_id uuid, name text, object_key text, pages integer, attempts integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_flyer uuid;
begin
  select x.id into v_flyer from flyer_jobs x
  where x.status = 'processing' and (x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
  order by x.lease is not distinct from p_lease desc, x.created_at
  limit 1
  for no key update skip locked;
  v_flyer := coalesce(v_flyer, claim_in_turn('flyer', p_lease, null, p_per_owner));
  return query
  update flyer_jobs j set
    status = 'processing', lease = p_lease, heartbeat_at = clock_timestamp(), updated_at = clock_timestamp(),
    attempts = j.attempts + (j.lease is distinct from p_lease)::integer
  from files f
  where j.id = v_flyer and f.id = j.file_id
  returning j.id, j.file_id, f.name, f.object_key, f.pages, j.attempts;
end
$$;

-- The flyer is alive. Lock order: flyer job, customer, hold.
create function heartbeat_flyer(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update flyer_jobs set heartbeat_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing';
  if not found then
    return false;
  end if;
  perform refresh_hold(p_id, p_window);
  return true;
end
$$;

-- The flyer is stored: the hold becomes the charge for the pages that could be read (R2). Returns `insufficient` where the hold
-- had lapsed and the funds are spent: then the flyer has failed. Lock order: flyer job, customer, hold.
create function complete_flyer(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_unreadable integer[] default '{}'
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
  v_pages integer;
begin
  perform book_costs(p_costs);
  select * into j from flyer_jobs where id = p_id for no key update;
  if not found or j.lease is distinct from p_lease then
    return 'stale';
  end if;
  if j.status = 'completed' then
    return 'completed';
  end if;
  if j.status <> 'processing' then
    return 'stale';
  end if;
  select greatest(pages - cardinality(p_unreadable), 0) into v_pages from files
  where id = j.file_id and cardinality(p_unreadable) > 0;
  if settle_hold(p_id, v_pages) = 'insufficient' then
    update flyer_jobs set
      status = 'failed', error = 'Not enough credits were left when the result was ready', updated_at = clock_timestamp()
    where id = p_id;
    perform release_hold(p_id, 'failed');
    return 'insufficient';
  end if;
  update flyer_jobs set
    status = 'completed', result_key = p_result_key, error = null, unreadable_pages = p_unreadable,
    updated_at = clock_timestamp()
  where id = p_id;
  return 'completed';
end
$$;

-- A flyer did not succeed: it waits again; its last attempt fails it, free of charge. Without `p_max_attempts` the worker stops
-- and hands it back: the attempt does not count. Lock order: flyer job, customer, hold.
create function fail_flyer(p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_status text;
begin
  perform book_costs(p_costs);
  update flyer_jobs set
    status = case when attempts >= p_max_attempts then 'failed' else 'pending' end, lease = null,
    error = coalesce(p_error, error), attempts = attempts - (p_max_attempts is null)::integer,
    updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning status into v_status;
  if not found then
    return 'stale';
  end if;
  if v_status = 'failed' then
    perform release_hold(p_id, 'failed');
  end if;
  return v_status;
end
$$;

-- The free reflow of a flyer job, once (DOC-32): claims `comp_conversion_id` and requests the conversion, all or nothing.
-- Returns `queued` (the same call again too), `not_found`, `resolved` (the claim is taken, or the flyer job has no result to
-- choose against) or `active`. Lock order: file, flyer job.
create function request_reflow(
  p_flyer_id uuid, p_customer_id uuid, p_job_id uuid, p_options jsonb, p_window interval
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
  v_answer text;
begin
  select * into j from flyer_jobs where id = p_flyer_id and customer_id = p_customer_id;
  if not found then
    return 'not_found';
  end if;
  perform from files where id = j.file_id and deleted_at is null for no key update;
  if not found then
    return 'not_found';
  end if;
  if exists (select from flyer_jobs where id = p_flyer_id and comp_conversion_id = p_job_id) then
    return 'queued';
  end if;
  update flyer_jobs set comp_conversion_id = p_job_id, updated_at = clock_timestamp()
  where id = p_flyer_id and status = 'completed' and comp_conversion_id is null;
  if not found then
    return 'resolved';
  end if;
  v_answer := request_conversion(
    p_job_id, j.file_id, p_customer_id, p_options || jsonb_build_object('_compedFlyerJobId', p_flyer_id), p_window
  );
  if v_answer <> 'queued' then
    update flyer_jobs set comp_conversion_id = null where id = p_flyer_id and comp_conversion_id = p_job_id;
  end if;
  return v_answer;
end
$$;


-- Bulk orders (DOC-51). Called by `BulkOrders`.

-- Requests the conversions of a bulk order, all or none. An item: `{"jobId", "fileId", "options"}`. Returns `queued` (the
-- same call again too), or why not and for which file, as `request_conversion`. Lock order: every file by id, before any
-- customer or hold, so that two orders of the same files cannot wait for each other.
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
  -- Every file before any customer or hold, by id.
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
    -- The order is rolled back; the answer stays.
    when sqlstate 'PL409' then null;
  end;
  return query select v_answer, case when v_answer <> 'queued' then v_file end;
end
$$;

-- How an item of a bulk order ended: `completed`, `failed` or `cancelled`; null while it is under way. What is converted
-- inline has no job: its hold has the answer.
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
          'noModelPages', case when f.job_id = i.job_id then cardinality(f.no_model_pages) else 0 end,
          'deleted', f.deleted_at is not null)
        order by i.place
      ) as items
      from bulk_items i join files f on f.id = i.file_id
      where i.bulk_id = o.id
    ) l on true
    where c.id = o.customer_id;
end
$$;

-- Closes the message: it went out, or it never will. True for the call that noted it.
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


-- Rows that are written by hand, with the documented columns and no others: triggers derive what the product writes beside
-- them. Postlane's own statements write all of it, so that for them nothing changes.

-- A live job is its file's conversion, whether or not the file says so: a file that has no other shows this one (C3).
create function file_shows_its_live_job() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update files set
    job_id = new.id, status = 'chunked_processing', done = 0, total = pages, error = null, updated_at = clock_timestamp()
  where id = new.file_id and job_id is distinct from new.id and deleted_at is null
    and status in ('uploaded', 'completed', 'failed');
  if found then
    perform conversion_progress(new.id);
  end if;
  return null;
end
$$;

create trigger large_conversion_jobs_file after insert on large_conversion_jobs
for each row when (new.status not in ('completed', 'failed', 'cancelled'))
execute function file_shows_its_live_job();

-- A job takes its pages, and its customer, from its file.
create function job_knows_its_file() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select f.pages, coalesce(new.customer_id, f.customer_id) into new.total_pages, new.customer_id
  from files f where f.id = new.file_id;
  new.total_pages := coalesce(new.total_pages, 0);
  return new;
end
$$;

create trigger large_conversion_jobs_pages before insert on large_conversion_jobs
for each row when (new.total_pages = 0) execute function job_knows_its_file();

-- Chunks without pages, of a job that does not say how many it has, share out the document among them, each page to one
-- (C1). Workers leave two seconds for the other chunks to be written; one that comes after a worker has begun has no pages.
create function chunks_share_the_pages() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_pages integer;
begin
  select total_pages into v_pages from large_conversion_jobs
  where id = new.job_id and total_chunks = 0 and total_pages > 0
  for no key update;
  if not found then
    return null;
  end if;
  if exists (select from chunk_jobs where job_id = new.job_id and lease is not null) then
    update chunk_jobs set first_page = v_pages, last_page = v_pages - 1 where id = new.id;
    return null;
  end if;
  update chunk_jobs c set
    first_page = s.first, last_page = s.next - 1, not_before = clock_timestamp() + interval '2 seconds'
  from (
    select id, (place * v_pages + chunks - 1) / chunks as first, ((place + 1) * v_pages + chunks - 1) / chunks as next
    from (
      select id, row_number() over (order by chunk_index)::integer - 1 as place, count(*) over ()::integer as chunks
      from chunk_jobs where job_id = new.job_id
    ) n
  ) s
  where c.id = s.id;
  return null;
end
$$;

-- A chunk takes its owner from its job, or from the job's file.
create function chunk_knows_its_owner() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select coalesce(j.customer_id, f.customer_id) into new.customer_id
  from large_conversion_jobs j join files f on f.id = j.file_id
  where j.id = new.job_id;
  return new;
end
$$;

create trigger chunk_jobs_owner before insert on chunk_jobs
for each row when (new.customer_id is null) execute function chunk_knows_its_owner();

create trigger chunk_jobs_pages after insert on chunk_jobs
for each row when (new.first_page = 0 and new.last_page = 0) execute function chunks_share_the_pages();

-- A job that another program moved to `assembling` is being assembled there, until it has been silent for as long as an
-- assembler that died: only then do workers claim it. The product's own move changes `updated_at`.
create function assembled_elsewhere() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.lease := coalesce(new.lease, gen_random_uuid());
  new.heartbeat_at := clock_timestamp();
  return new;
end
$$;

create trigger large_conversion_jobs_assembling_made before insert on large_conversion_jobs
for each row when (new.status = 'assembling') execute function assembled_elsewhere();

create trigger large_conversion_jobs_assembling before update of status on large_conversion_jobs
for each row when (
  new.status = 'assembling' and old.status <> 'assembling'
  and new.lease is not distinct from old.lease and new.updated_at = old.updated_at
)
execute function assembled_elsewhere();

-- The same of a file on the inline path; its conversion gets an id like any other. The product's own move changes `job_id`.
create function converted_elsewhere() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.job_id := coalesce(new.job_id, gen_random_uuid());
  new.lease := gen_random_uuid();
  new.heartbeat_at := clock_timestamp();
  new.total := greatest(new.total, new.pages);
  return new;
end
$$;

create trigger files_processing_made before insert on files
for each row when (new.status = 'processing') execute function converted_elsewhere();

create trigger files_processing before update of status on files
for each row when (
  new.status = 'processing' and old.status <> 'processing' and new.job_id is not distinct from old.job_id
)
execute function converted_elsewhere();

select secure_table(name) from unnest(array[
  'files', 'inline_turns', 'work_turns', 'convert_queue', 'large_conversion_jobs', 'chunk_jobs', 'cost_ledger', 'flyer_jobs',
  'bulk_orders', 'bulk_items', 'share_keys', 'file_shares', 'object_stores'
]::regclass[]) as name;

select secure_function(name) from unnest(array[
  'conversion_cost(uuid)',
  'book_costs(jsonb)',
  'conversion_progress(uuid)',
  'add_file(uuid, uuid, text, text, bigint, integer, text, jsonb, jsonb)',
  'request_conversion(uuid, uuid, uuid, jsonb, interval, uuid)',
  'create_conversion_job(uuid, text, integer, jsonb)',
  'fail_conversion_job(uuid, text, uuid)',
  'claimed_chunk(uuid)',
  'claim_chunk_of(uuid, uuid, text, boolean)',
  'next_flyer_of(uuid)',
  'next_owner_waiting(text, uuid)',
  'claim_in_turn(text, uuid, text, integer, boolean)',
  'claim_chunk(uuid, text, integer, boolean)',
  'heartbeat_chunk(uuid, uuid, interval, integer)',
  'complete_chunk(uuid, uuid, text, jsonb, integer, integer)',
  'fail_chunk(uuid, uuid, text, jsonb, integer, interval)',
  'hand_back_chunk(uuid, uuid, jsonb, interval)',
  'make_missing_chunks(uuid, integer)',
  'recover_orphan_chunks(interval, integer)',
  'claim_assembly(uuid, interval)',
  'heartbeat_assembly(uuid, uuid, interval)',
  'hand_back_assembly(uuid, uuid)',
  'complete_assembly(uuid, uuid, text, integer[], boolean, integer[], jsonb)',
  'cancel_conversion_job(uuid, boolean)',
  'cancel_flyer_jobs_for_file(uuid, text)',
  'cancel_flyer_job(uuid, uuid, text)',
  'delete_file(uuid, uuid)',
  'delete_file_of_closed_account()',
  'model_cost_today()',
  'apply_model_budget(numeric)',
  'sweep_conversions(interval, interval)',
  'claim_inline(uuid, interval)',
  'heartbeat_inline(uuid, uuid, interval)',
  'complete_inline(uuid, uuid, text, jsonb, integer, boolean, integer[], jsonb)',
  'fail_inline(uuid, uuid, text, jsonb, integer)',
  'inline_turn_ended()',
  'request_flyer(uuid, uuid, uuid, interval)',
  'claim_flyer(uuid, interval, integer)',
  'heartbeat_flyer(uuid, uuid, interval)',
  'complete_flyer(uuid, uuid, text, jsonb, integer[])',
  'fail_flyer(uuid, uuid, text, jsonb, integer)',
  'request_reflow(uuid, uuid, uuid, jsonb, interval)',
  'request_bulk(uuid, uuid, jsonb, interval)',
  'bulk_outcome(uuid, uuid)',
  'claim_bulk_message(interval, integer)',
  'confirm_bulk_message(uuid)',
  'file_shows_its_live_job()',
  'job_knows_its_file()',
  'chunk_knows_its_owner()',
  'chunks_share_the_pages()',
  'assembled_elsewhere()',
  'converted_elsewhere()'
]::regprocedure[]) as name;
