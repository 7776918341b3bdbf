-- Conversion: files, jobs and their chunks, Word documents and pictures, Preserve Formatting, bulk orders, shared links.
-- Rules: docs/reference/specification/documents.md.

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
  -- Content of a PDF that its pages do not show and no conversion reads; null where it was not looked for, or the file is no PDF.
  left_out jsonb,
  -- Links to the result that were made until then are stopped (DOC-50).
  shares_from timestamptz,
  -- The inline path: when this attempt began.
  claimed_at timestamptz
);

-- People with whom a file's result is shared, by address as it was written. The links are signed and not stored; each names its
-- share, and works while that row exists (DOC-50).
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

-- The owner who was served last, for each kind of work: owners take turns in the order of their ids (DOC-12), so that one index
-- look-up finds the next, however many owners and pieces of work wait.
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
  -- When the job was queued, so that the oldest job's chunks are found first.
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

-- The object stores of this installation: the identity that the first process found or wrote in its store. A process that finds
-- another identity works on no files. Called by `StoreIdentities`.
create table object_stores (
  name text primary key check (name in ('files', 'batch')),
  identity text not null,
  -- The bucket, with its endpoint; null for a folder.
  place text,
  known_since timestamptz not null default clock_timestamp()
);

create trigger files_inline_turn after update on files
for each row when (
  old.status = 'processing' and old.claimed_at is not null and old.lease is not null and (
    new.status <> 'processing' or new.lease is distinct from old.lease or new.deleted_at is distinct from old.deleted_at
  )
)
execute function inline_turn_ended();

create trigger large_conversion_jobs_file after insert on large_conversion_jobs
for each row when (new.status not in ('completed', 'failed', 'cancelled'))
execute function file_shows_its_live_job();

create trigger large_conversion_jobs_pages before insert on large_conversion_jobs
for each row when (new.total_pages = 0) execute function job_knows_its_file();

create trigger chunk_jobs_owner before insert on chunk_jobs
for each row when (new.customer_id is null) execute function chunk_knows_its_owner();

create trigger chunk_jobs_pages after insert on chunk_jobs
for each row when (new.first_page = 0 and new.last_page = 0) execute function chunks_share_the_pages();

create trigger large_conversion_jobs_assembling_made before insert on large_conversion_jobs
for each row when (new.status = 'assembling') execute function assembled_elsewhere();

create trigger large_conversion_jobs_assembling before update of status on large_conversion_jobs
for each row when (
  new.status = 'assembling' and old.status <> 'assembling'
  and new.lease is not distinct from old.lease and new.updated_at = old.updated_at
)
execute function assembled_elsewhere();

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
