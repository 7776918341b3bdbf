-- What is to be claimed is chosen once a statement. A subquery in `from` may be run again for each row that it is joined with,
-- and is where the planner takes the table for one of a row at most (as it was when it was last analyzed): with what was claimed
-- passed over, each run chose the next row, so that one claim took everything that waited. All but one of them lay under a lease
-- that nobody worked for until it was stale, each with an attempt lost. A common table expression that locks rows is run once.
-- Otherwise these are as in 0006, 0016, 0018, 0019, 0020 and 0021.

create or replace function purge_email_claims(p_limit integer default 10000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_count integer;
begin
  with old as materialized (
    select x.key_hash from email_send_claims x
    where x.first_attempt_at < now() - interval '24 hours' and (x.lease_until is null or x.lease_until < now())
    limit p_limit
    for update skip locked
  )
  delete from email_send_claims c using old
  where c.key_hash = old.key_hash;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create or replace function claim_email_alarm_notice()
returns table (alarm text, episode integer, kind text, detail text, at float8)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
    select x.alarm, x.episode, x.kind from email_alarm_notices x
    where x.due_at <= clock_timestamp() and (
      x.kind = 'begun'
      or exists (
        select from email_alarm_notices b
        where b.alarm = x.alarm and b.episode = x.episode and b.kind = 'begun' and b.sent_at is not null)
    )
    order by x.due_at, x.created_at, x.kind
    limit 1
    for update skip locked
  )
  update email_alarm_notices n set due_at = clock_timestamp() + interval '3 minutes', attempts = n.attempts + 1
  from due
  where n.alarm = due.alarm and n.episode = due.episode and n.kind = due.kind
  returning n.alarm, n.episode, n.kind, n.detail, extract(epoch from n.created_at)::float8 * 1000
$$;

create or replace function claim_assembly(p_lease uuid, p_stale interval)
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
    lease = p_lease, heartbeat_at = clock_timestamp(), attempts = j.attempts + 1, updated_at = clock_timestamp()
  from n, files f
  where j.id = n.id and f.id = j.file_id
  returning j.id, j.file_id, f.name, j.attempts, j.options, j.total_pages,
    array(select c.result_key from chunk_jobs c where c.job_id = j.id order by c.chunk_index)
$$;

create or replace function claim_inline(p_lease uuid, p_stale interval)
returns table (
  id uuid, job_id uuid, name text, kind text, object_key text, attempts integer, options jsonb
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from files x
    where x.status = 'processing' and x.deleted_at is null
      and (x.lease is null or x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
    order by x.lease is not distinct from p_lease desc, x.updated_at
    limit 1
    for no key update skip locked
  )
  update files f set
    lease = p_lease, heartbeat_at = clock_timestamp(), attempts = f.attempts + 1, phase = 'Converting',
    updated_at = clock_timestamp()
  from n
  where f.id = n.id
  returning f.id, f.job_id, f.name, f.kind, f.object_key, f.attempts, f.options
$$;

create or replace function claim_flyer(p_lease uuid, p_stale interval)
returns table (id uuid, file_id uuid, name text, object_key text, pages integer, attempts integer)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from flyer_jobs x
    where x.status = 'pending'
      or (x.status = 'processing' and (x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale))
    order by x.lease is not distinct from p_lease desc, x.created_at
    limit 1
    for no key update skip locked
  )
  update flyer_jobs j set
    status = 'processing', lease = p_lease, heartbeat_at = clock_timestamp(), attempts = j.attempts + 1,
    updated_at = clock_timestamp()
  from n, files f
  where j.id = n.id and f.id = j.file_id
  returning j.id, j.file_id, f.name, f.object_key, f.pages, j.attempts
$$;

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
  update conversion_batch_jobs b set next_poll_at = clock_timestamp() + p_every
  from d
  where b.id = d.id
  returning b.*
$$;

create or replace function claim_mail(p_step text, p_lease uuid, p_stale interval) returns setof intake_mails
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from intake_mails x
    where x.step = p_step
      and (x.lease = p_lease or (x.not_before <= clock_timestamp()
        and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)))
    order by x.lease is not distinct from p_lease desc, x.not_before
    limit 1
    for no key update skip locked
  )
  update intake_mails m set
    lease = p_lease, heartbeat_at = clock_timestamp(),
    attempts = m.attempts + case when m.lease is not distinct from p_lease then 0 else 1 end
  from n
  where m.id = n.id
  returning m.*
$$;

create or replace function claim_reply(p_lease uuid, p_for interval)
returns table (
  id uuid, mail_id uuid, recipient text, content jsonb, as_link boolean, attempts integer, created_at timestamptz,
  message_id text, thread_references text, subject text, filename text, result_key text, result_bytes bigint
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from intake_replies x
    where x.status = 'queued' and x.not_before <= clock_timestamp()
      and not exists (
        select from intake_replies e where e.mail_id = x.mail_id and e.status = 'queued' and e.created_at < x.created_at
      )
    order by x.not_before
    limit 1
    for no key update skip locked
  )
  update intake_replies r set lease = p_lease, attempts = r.attempts + 1, not_before = clock_timestamp() + p_for
  from n, intake_mails m
  where r.id = n.id and m.id = r.mail_id
  returning r.id, r.mail_id, r.recipient, r.content, r.as_link, r.attempts,
    r.created_at, m.message_id, m.thread_references, m.subject,
    m.filename, m.result_key, m.result_bytes
$$;

select secure_function(f) from unnest(array[
  'purge_email_claims(integer)', 'claim_email_alarm_notice()', 'claim_assembly(uuid, interval)', 'claim_inline(uuid, interval)',
  'claim_flyer(uuid, interval)', 'claim_batch_polls(interval, integer)', 'claim_mail(text, uuid, interval)',
  'claim_reply(uuid, interval)'
]::regprocedure[]) as f;
