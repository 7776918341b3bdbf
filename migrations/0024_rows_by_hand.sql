-- Rows that are written by hand, with the columns that the documents name and no others: what the product writes beside them
-- is derived here. Its own statements write all of it, so that for them nothing changes.

-- Mail addresses are kept in lower case (ASCII, as everywhere), however they were typed.
create function address_in_lower_case() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.email := lower(btrim(new.email) collate "C");
  return new;
end
$$;

-- Before `customers_recall_free_pages`: triggers fire by name.
create trigger customers_address before insert or update of email on customers
for each row when (new.email <> lower(btrim(new.email) collate "C")) execute function address_in_lower_case();
create trigger email_suppressions_address before insert or update of email on email_suppressions
for each row when (new.email <> lower(btrim(new.email) collate "C")) execute function address_in_lower_case();
create trigger prospects_address before insert or update of email on prospects
for each row when (new.email <> lower(btrim(new.email) collate "C")) execute function address_in_lower_case();
create trigger unsubscribes_address before insert or update of email on unsubscribes
for each row when (new.email <> lower(btrim(new.email) collate "C")) execute function address_in_lower_case();

alter table audit_digest_subscriptions alter column cadence set default 'daily';

-- A message of the contact form needs an address, for the answer; a name if there is one.
alter table contact_messages drop constraint contact_messages_check;
alter table contact_messages add constraint contact_messages_check
  check (kind = 'feedback' or email is not null);

-- Document 3 names `paused_budget` for jobs and chunks; the product pauses the job, and lets go of such chunks with it.
alter table chunk_jobs drop constraint chunk_jobs_status_check;
alter table chunk_jobs add constraint chunk_jobs_status_check check (status in (
  'pending', 'waiting_batch', 'processing', 'paused_budget', 'completed', 'failed', 'cancelled'
));

-- As in 0018, and chunks that were paused go on with their job.
create or replace function apply_model_budget(p_budget_usd numeric) returns integer
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
    if not v_spent then
      update chunk_jobs set status = 'pending', updated_at = clock_timestamp()
      where job_id = v_id and status = 'paused_budget';
    end if;
    perform conversion_progress(v_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- As in 0018; a job whose number of chunks was not written down has as many as there are.
create or replace function conversion_progress(p_job_id uuid) returns void
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

-- As in 0018; a running chunk that has no heartbeat, since no worker of ours claimed it, has not been heard of since it was
-- written.
create or replace function recover_orphan_chunks(p_stale interval, p_max_attempts integer) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c record;
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
  return v_count;
end
$$;

-- A live job is its file's conversion, whether or not the file was told of it: one that has no other shows this one.
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

-- A batch row's outcome is there exactly while it is closed; one that is closed without is what its reason says, else
-- skipped. A submitted one is given up some time, whoever wrote it: after the shortest time-out and the 2 h of grace.
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

select secure_function(f) from unnest(array[
  'address_in_lower_case()', 'apply_model_budget(numeric)', 'conversion_progress(uuid)',
  'recover_orphan_chunks(interval, integer)', 'file_shows_its_live_job()', 'batch_row_is_whole()'
]::regprocedure[]) as f;
