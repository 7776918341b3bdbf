-- The batch lane: one row for each job's batch job, what the driver does with it, and what the owner may do meanwhile.
-- Rules: docs/reference/specification/batch-lane.md.

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
  -- Prefix of the uploaded records; null: not uploaded yet.
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

create trigger conversion_batch_jobs_whole before insert or update of state, outcome on conversion_batch_jobs
for each row execute function batch_row_is_whole();

select secure_table('conversion_batch_jobs');
