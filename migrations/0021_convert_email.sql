-- Convert-by-email (document 2): what was converted, the mails under way, and the replies that are to go out. Locks are always
-- taken in this order: mail, customer, hold.

-- What became of each conversion that was begun for a mail.
create table conversion_jobs (
  -- That of the mail: one row a mail, however often it is worked on.
  id uuid primary key default gen_random_uuid(),
  customer_id uuid references customers (id),
  sender_email text not null,
  filename text not null,
  file_type text not null check (file_type in ('pdf', 'docx', 'html')),
  file_size_bytes integer not null check (file_size_bytes >= 0),
  total_pages integer not null default 0 check (total_pages >= 0),
  standard_pages integer not null default 0 check (standard_pages >= 0),
  complex_pages integer not null default 0 check (complex_pages >= 0),
  credits_charged integer not null default 0 check (credits_charged >= 0),
  status text not null check (status in ('success', 'error')),
  error_message text,
  created_at timestamptz not null default now()
);

create index conversion_jobs_customer on conversion_jobs (customer_id, created_at desc);

-- A mail that was taken in: its raw form is stored before its row is, and its row before the sender is told 250.
create table intake_mails (
  id uuid primary key,
  raw_key text not null,
  raw_bytes bigint not null,
  -- Empty: the null return path.
  envelope_from text not null,
  -- Whether what the peer says of the sender is believed (the name or address of the peer is a trusted hop's).
  peer_trusted boolean not null,
  step text not null default 'received' check (step in ('received', 'converting', 'ended')),
  outcome text check (outcome in (
    'success', 'error', 'insufficient', 'unregistered', 'no_attachment', 'unsupported', 'too_large',
    'duplicate', 'automatic', 'unverified', 'no_sender', 'limited'
  )),
  -- Why, in words, for the log.
  reason text,
  -- SHA-256 over Message-ID, sender and the SHA-256 of the decoded attachment: what makes two deliveries one mail.
  identity text unique,
  message_id text,
  sender text,
  content_sha256 text,
  subject text,
  thread_references text,
  customer_id uuid references customers (id),
  filename text,
  file_bytes integer,
  pages integer,
  ignored jsonb not null default '[]',
  source_key text,
  result_key text,
  result_bytes bigint,
  -- Who is at it.
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  received_at timestamptz not null default now(),
  ended_at timestamptz,
  -- What was removed of its objects: the mail and the source, or all.
  cleaned text check (cleaned in ('source', 'all')),
  check ((step = 'ended') = (outcome is not null))
);

create index intake_mails_next on intake_mails (step, not_before) where step <> 'ended';
create index intake_mails_sender on intake_mails (sender, received_at) where sender is not null;
create index intake_mails_to_clean on intake_mails (ended_at) where step = 'ended' and cleaned is distinct from 'all';

-- Replies, durable from the moment at which what they say is decided. `content` is the mail as data.
create table intake_replies (
  id uuid primary key default gen_random_uuid(),
  mail_id uuid not null references intake_mails (id) on delete cascade,
  kind text not null,
  recipient text not null,
  content jsonb not null,
  status text not null default 'queued' check (status in ('queued', 'sent', 'failed')),
  -- The result goes as a link: it is too large to attach, or was refused as it was.
  as_link boolean not null default false,
  attempts integer not null default 0,
  lease uuid,
  not_before timestamptz not null default now(),
  error text,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  unique (mail_id, kind)
);

create index intake_replies_next on intake_replies (not_before) where status = 'queued';

-- Addresses without an account that were told so, and when: once a day.
create table intake_strangers (
  sender text primary key,
  replied_at timestamptz not null
);

-- The key of the links to results that are too large to attach.
create table intake_link_keys (
  id smallint primary key default 1 check (id = 1),
  key bytea not null check (octet_length(key) = 32)
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into intake_link_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

select secure_table(t) from unnest(array[
  'conversion_jobs', 'intake_mails', 'intake_replies', 'intake_strangers', 'intake_link_keys'
]::regclass[]) as t;

-- Takes the mail at `p_step` that waits longest, or one whose worker has not been heard of for `p_stale`. The same lease
-- gets the same mail.
create function claim_mail(p_step text, p_lease uuid, p_stale interval) returns setof intake_mails
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update intake_mails m set
    lease = p_lease, heartbeat_at = clock_timestamp(),
    attempts = m.attempts + case when m.lease is not distinct from p_lease then 0 else 1 end
  from (
    select x.id from intake_mails x
    where x.step = p_step
      and (x.lease = p_lease or (x.not_before <= clock_timestamp()
        and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)))
    order by x.lease is not distinct from p_lease desc, x.not_before
    limit 1
    for no key update skip locked
  ) n
  where m.id = n.id
  returning m.*
$$;

create function heartbeat_mail(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_mails set heartbeat_at = clock_timestamp() where id = p_id and lease = p_lease and step <> 'ended';
  if not found then
    return false;
  end if;
  perform refresh_hold(p_id, p_window);
  return true;
end
$$;

-- Gives a mail back, to be taken again after `p_after`; one that was given back without a fault of its own (`p_counts`
-- false) has lost no attempt.
create function hand_back_mail(p_id uuid, p_lease uuid, p_after interval, p_counts boolean) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_mails set
    lease = null, heartbeat_at = null, not_before = clock_timestamp() + p_after,
    attempts = case when p_counts then attempts else greatest(attempts - 1, 0) end
  where id = p_id and lease = p_lease and step <> 'ended';
  return found;
end
$$;

-- Claims the identity of a mail before any work for it. Answers `claimed` (by this mail, now or earlier), `duplicate`
-- (another mail has it; this one has ended), `limited` (more than `p_limit` mails of the sender within an hour; it has ended)
-- or `stale`.
create function identify_mail(
  p_id uuid, p_lease uuid, p_identity text, p_message_id text, p_sender text, p_sha256 text, p_subject text,
  p_references text, p_limit integer
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step <> 'received' then
    return 'stale';
  end if;
  begin
    update intake_mails set
      identity = p_identity, message_id = p_message_id, sender = p_sender, content_sha256 = p_sha256,
      subject = p_subject, thread_references = p_references
    where id = p_id;
  exception when unique_violation then
    update intake_mails set
      step = 'ended', outcome = 'duplicate', sender = p_sender, message_id = p_message_id, lease = null,
      reason = 'the same mail was delivered before', ended_at = clock_timestamp()
    where id = p_id;
    return 'duplicate';
  end;
  if (
    select count(*) from (
      select from intake_mails x
      where x.sender = p_sender and x.received_at > m.received_at - interval '1 hour' and x.received_at <= m.received_at
        and x.id <> p_id and x.outcome is distinct from 'duplicate' and x.outcome is distinct from 'limited'
      limit p_limit
    ) recent
  ) >= p_limit then
    update intake_mails set
      step = 'ended', outcome = 'limited', lease = null, ended_at = clock_timestamp(),
      reason = format('more than %s mails of the sender within an hour', p_limit)
    where id = p_id;
    return 'limited';
  end if;
  return 'claimed';
end
$$;

-- Queues a reply; a mail has one of each kind.
create function queue_reply(p_mail_id uuid, p_recipient text, p_content jsonb) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into intake_replies (mail_id, kind, recipient, content)
  values (p_mail_id, p_content ->> 'kind', p_recipient, p_content)
  on conflict (mail_id, kind) do nothing
$$;

-- Sets the funds aside, queues the acknowledgement and lets the conversion begin, all or nothing. Answers `admitted`,
-- `insufficient` (nothing was written; the plan and what could be spent come with it) or `stale`.
create function admit_mail(
  p_id uuid, p_lease uuid, p_customer_id uuid, p_filename text, p_file_bytes integer, p_pages integer, p_ignored jsonb,
  p_source_key text, p_window interval, p_recipient text, p_ack jsonb
) returns table (answer text, plan text, balance integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step = 'ended' then
    return query select 'stale', null::text, null::integer;
    return;
  end if;
  if m.step = 'converting' then
    return query select 'admitted', null::text, null::integer;
    return;
  end if;
  if not place_hold(p_customer_id, p_id, p_pages, p_window) then
    return query select 'insufficient', f.plan, greatest(f.credits, f.free_pages) from available_funds(p_customer_id) f;
    return;
  end if;
  update intake_mails set
    step = 'converting', customer_id = p_customer_id, filename = p_filename, file_bytes = p_file_bytes, pages = p_pages,
    ignored = p_ignored, source_key = p_source_key, lease = null, heartbeat_at = null, attempts = 0,
    not_before = clock_timestamp()
  where id = p_id;
  perform queue_reply(p_id, p_recipient, p_ack);
  return query select 'admitted', null::text, null::integer;
end
$$;

-- What `p_sender` may be told today, having no account: true for the first of the day.
create function first_today(p_sender text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into intake_strangers as s (sender, replied_at) values (p_sender, clock_timestamp())
  on conflict (sender) do update set replied_at = clock_timestamp()
    where s.replied_at <= clock_timestamp() - interval '1 day';
  return found;
end
$$;

-- Ends a mail without a result: nothing is charged, what was set aside is given back, the reply (null: none) is queued and a
-- conversion that had begun is logged (`p_error`), in one transaction. One to a stranger (`p_stranger`) goes out once a day.
-- Answers whether this lease ended it, now or earlier.
create function end_mail(
  p_id uuid, p_lease uuid, p_outcome text, p_reason text, p_customer_id uuid, p_filename text, p_file_bytes integer,
  p_error text, p_recipient text, p_reply jsonb, p_stranger boolean
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease then
    return false;
  end if;
  if m.step = 'ended' then
    return true;
  end if;
  perform release_hold(p_id, p_outcome);
  update intake_mails set
    step = 'ended', outcome = p_outcome, reason = p_reason, customer_id = coalesce(p_customer_id, customer_id),
    filename = coalesce(p_filename, filename), file_bytes = coalesce(p_file_bytes, file_bytes), ended_at = clock_timestamp()
  where id = p_id;
  if p_error is not null then
    insert into conversion_jobs (id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, status, error_message)
    values (p_id, coalesce(p_customer_id, m.customer_id), coalesce(m.sender, p_recipient), coalesce(p_filename, m.filename), 'pdf',
      coalesce(p_file_bytes, m.file_bytes, 0), coalesce(m.pages, 0), 'error', p_error)
    on conflict (id) do nothing;
  end if;
  if p_reply is not null and (not p_stranger or first_today(p_recipient)) then
    perform queue_reply(p_id, p_recipient, p_reply);
  end if;
  return true;
end
$$;

-- The result is stored: in one transaction what was set aside becomes the charge for `p_pages`, the result's reply is queued
-- (`creditsCharged` and `balance` added) and the job logged. So a charge is there exactly if its reply is. Answers `completed`
-- (by this lease, now or earlier), `insufficient` (more pages than were set aside, and no funds for them; nothing was
-- written) or `stale`.
create function finish_mail(
  p_id uuid, p_lease uuid, p_pages integer, p_standard integer, p_complex integer, p_result_key text,
  p_result_bytes bigint, p_recipient text, p_reply jsonb, p_as_link boolean
) returns table (answer text, plan text, balance integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  h funds_holds;
  f record;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step = 'received' then
    return query select 'stale', null::text, null::integer;
    return;
  end if;
  if m.step = 'ended' then
    return query select case when m.outcome = 'success' then 'completed' else 'stale' end, null::text, null::integer;
    return;
  end if;
  perform from customers where id = m.customer_id for no key update;
  select * into h from funds_holds where job_id = p_id and state = 'held';
  select * into f from available_funds(m.customer_id, p_id);
  if h.id is null or (p_pages > greatest(h.credits, h.free_pages) and p_pages > greatest(f.credits, f.free_pages)) then
    return query select 'insufficient', f.plan, greatest(f.credits, f.free_pages);
    return;
  end if;
  if p_pages > greatest(h.credits, h.free_pages) then
    update funds_holds set
      credits = case when h.credits > 0 then p_pages else 0 end,
      free_pages = case when h.free_pages > 0 then p_pages else 0 end
    where id = h.id;
  end if;
  if settle_hold(p_id, p_pages) <> 'settled' then
    return query select 'insufficient', f.plan, greatest(f.credits, f.free_pages);
    return;
  end if;
  update intake_mails set
    step = 'ended', outcome = 'success', pages = p_pages, result_key = p_result_key, result_bytes = p_result_bytes,
    ended_at = clock_timestamp()
  where id = p_id;
  insert into conversion_jobs (
    id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, standard_pages, complex_pages,
    credits_charged, status
  ) values (
    p_id, m.customer_id, m.sender, m.filename, 'pdf', m.file_bytes, p_pages, p_standard, p_complex, p_pages, 'success'
  );
  select * into f from available_funds(m.customer_id);
  insert into intake_replies (mail_id, kind, recipient, content, as_link) values (
    p_id, p_reply ->> 'kind', p_recipient,
    p_reply || jsonb_build_object('creditsCharged', p_pages, 'balance', greatest(f.credits, f.free_pages)), p_as_link
  );
  return query select 'completed', f.plan, greatest(f.credits, f.free_pages);
end
$$;

-- Takes the reply that waits longest for `p_for`; not before the replies of its mail that were queued before it have ended.
create function claim_reply(p_lease uuid, p_for interval)
returns table (
  id uuid, mail_id uuid, recipient text, content jsonb, as_link boolean, attempts integer, created_at timestamptz,
  message_id text, thread_references text, subject text, filename text, result_key text, result_bytes bigint
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update intake_replies r set lease = p_lease, attempts = r.attempts + 1, not_before = clock_timestamp() + p_for
  from (
    select x.id from intake_replies x
    where x.status = 'queued' and x.not_before <= clock_timestamp()
      and not exists (
        select from intake_replies e where e.mail_id = x.mail_id and e.status = 'queued' and e.created_at < x.created_at
      )
    order by x.not_before
    limit 1
    for no key update skip locked
  ) n, intake_mails m
  where r.id = n.id and m.id = r.mail_id
  returning r.id, r.mail_id, r.recipient, r.content, r.as_link, r.attempts,
    r.created_at, m.message_id, m.thread_references, m.subject,
    m.filename, m.result_key, m.result_bytes
$$;

-- Ends a reply (`p_status` sent or failed).
create function end_reply(p_id uuid, p_lease uuid, p_status text, p_error text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_replies set status = p_status, error = p_error, lease = null, ended_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'queued';
  return found;
end
$$;

-- A reply did not go out now: it is tried again after `p_after`, as a link if `p_as_link`.
create function retry_reply(p_id uuid, p_lease uuid, p_after interval, p_error text, p_as_link boolean) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_replies set
    lease = null, not_before = clock_timestamp() + p_after, error = p_error, as_link = as_link or p_as_link
  where id = p_id and lease = p_lease and status = 'queued';
  return found;
end
$$;

-- Mails that have ended and whose replies have gone, with objects still there; `everything` where the result may go, too:
-- it was attached, or its link has expired.
create function mails_to_clean(p_limit integer, p_link_lives interval) returns table (id uuid, everything boolean)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select m.id, w.everything
  from intake_mails m
  cross join lateral (
    select m.result_key is null or m.ended_at < clock_timestamp() - p_link_lives
      or not exists (select from intake_replies r where r.mail_id = m.id and r.as_link) as everything
  ) w
  where m.step = 'ended' and m.cleaned is distinct from 'all' and (m.cleaned is null or w.everything)
    and not exists (select from intake_replies r where r.mail_id = m.id and r.status = 'queued')
  order by m.ended_at
  limit p_limit
$$;

-- Forgets mails and strangers that ended long ago.
create function purge_intake() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from intake_mails where step = 'ended' and cleaned = 'all' and ended_at < clock_timestamp() - interval '90 days';
  delete from intake_strangers where replied_at < clock_timestamp() - interval '2 days';
$$;

select secure_function(f) from unnest(array[
  'claim_mail(text, uuid, interval)', 'heartbeat_mail(uuid, uuid, interval)',
  'hand_back_mail(uuid, uuid, interval, boolean)',
  'identify_mail(uuid, uuid, text, text, text, text, text, text, integer)', 'queue_reply(uuid, text, jsonb)',
  'admit_mail(uuid, uuid, uuid, text, integer, integer, jsonb, text, interval, text, jsonb)', 'first_today(text)',
  'end_mail(uuid, uuid, text, text, uuid, text, integer, text, text, jsonb, boolean)',
  'finish_mail(uuid, uuid, integer, integer, integer, text, bigint, text, jsonb, boolean)',
  'claim_reply(uuid, interval)', 'end_reply(uuid, uuid, text, text)',
  'retry_reply(uuid, uuid, interval, text, boolean)', 'mails_to_clean(integer, interval)', 'purge_intake()'
]::regprocedure[]) as f;
