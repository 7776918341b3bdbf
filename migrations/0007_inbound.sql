-- Convert-by-email: mails under way, the replies that are to go out, and what was converted.
-- Rules: docs/reference/specification/convert-by-email.md. Called by `IntakeStore` unless a function says otherwise.
--
-- Lock order: mail, customer, hold.


-- Tables

-- The result of each conversion that was begun for a mail (INBOUND-10).
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

-- A mail that was accepted: its raw form is stored before its row is, and its row before the sender is answered 250.
create table intake_mails (
  id uuid primary key,
  raw_key text not null,
  raw_bytes bigint not null,
  -- Empty: the null return path.
  envelope_from text not null,
  -- Whether the peer's verdict about the sender is believed (the peer is a trusted hop, INBOUND-2).
  peer_trusted boolean not null,
  step text not null default 'received' check (step in ('received', 'converting', 'ended')),
  outcome text check (outcome in (
    'success', 'error', 'insufficient', 'unregistered', 'no_attachment', 'unsupported', 'too_large', 'misaddressed',
    'duplicate', 'automatic', 'unverified', 'no_sender', 'limited', 'suppressed', 'malformed'
  )),
  -- Why, in words, for the log.
  reason text,
  -- SHA-256 over Message-ID, sender and the SHA-256 of the decoded attachment: what makes two deliveries one mail.
  identity text unique,
  message_id text,
  -- The verified one.
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
  -- The worker's lease.
  lease uuid,
  heartbeat_at timestamptz,
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  received_at timestamptz not null default now(),
  ended_at timestamptz,
  -- What was removed of its objects: the mail and the source, or all.
  cleaned text check (cleaned in ('source', 'all')),
  -- Failures of this step that were no fault of the mail (the object store, the pipeline, the database), in a row: only a
  -- worker that died counts as an attempt (INBOUND-12, I4).
  failures integer not null default 0,
  -- The part that fails, since when without a gap, and when it did last.
  failing_part text,
  failing_since timestamptz,
  failed_at timestamptz,
  -- The lease that was taken over as stale: its worker may turn out to be alive.
  former_lease uuid,
  -- The object store that holds it, which only processes that have the same one work on (DOC-6); null: any.
  home text,
  -- By whom mails are read in turns: the customer whose verified address it is from; empty for all others together.
  turn text not null default '',
  -- When it was claimed last.
  claimed_at timestamptz,
  check ((step = 'ended') = (outcome is not null))
);

create index intake_mails_next on intake_mails (step, not_before) where step <> 'ended';
create index intake_mails_waiting on intake_mails (turn, not_before) where step = 'received';
create index intake_mails_turns on intake_mails (turn, claimed_at) where claimed_at is not null;
create index intake_mails_newest on intake_mails (received_at desc, id desc);
create index intake_mails_lease on intake_mails (lease) where lease is not null;
create index intake_mails_converting on intake_mails (customer_id, not_before) where step = 'converting';
create index intake_mails_sender on intake_mails (sender, received_at) where sender is not null;
create index intake_mails_to_clean on intake_mails (ended_at) where step = 'ended' and cleaned is distinct from 'all';
create index intake_mails_customer on intake_mails (customer_id, ended_at desc) where customer_id is not null;

-- What else makes two deliveries one mail: the signatures that it carries, which only its domain can make (INBOUND-7).
create table intake_identities (
  -- SHA-256 over the signature's bytes and the sender.
  identity text primary key,
  mail_id uuid not null references intake_mails (id) on delete cascade
);

create index intake_identities_mail on intake_identities (mail_id);

-- Replies (INBOUND-9), durable from the moment at which their words are decided. `content` is the mail as data.
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
  -- Tries that may or may not have arrived.
  unknowns integer not null default 0,
  unique (mail_id, kind)
);

create index intake_replies_next on intake_replies (not_before) where status = 'queued';
create index intake_replies_to on intake_replies (recipient, created_at)
where kind in ('no-attachment', 'unsupported-file', 'misaddressed');

-- Addresses without an account that were answered so, and when: once a day.
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


-- Leased work on a mail, by the shape that 0005_conversion describes: claim, heartbeat, hand back, defer, and then complete or
-- end

-- A mail has arrived; the same call again changes nothing. `p_sender`: its verified sender, who takes turns if they are a
-- customer. Others take one turn together, so that nobody gains turns by writing from many addresses. `p_outcome`: its headers alone
-- ended it (INBOUND-4).
create function receive_mail(
  p_id uuid, p_raw_key text, p_raw_bytes bigint, p_envelope_from text, p_peer_trusted boolean, p_sender text, p_outcome text,
  p_reason text, p_home text
) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, sender, home, turn, step, outcome, reason, ended_at)
  values (
    p_id, p_raw_key, p_raw_bytes, p_envelope_from, p_peer_trusted, p_sender, p_home,
    coalesce(
      (select c.id::text from customers c where c.email = p_sender and c.deleted_at is null), ''
    ),
    case when p_outcome is null then 'received' else 'ended' end, p_outcome, p_reason,
    case when p_outcome is not null then clock_timestamp() end
  )
  on conflict (id) do nothing
$$;

-- Claims a mail that was received: of the turns with a mail that is due, one that was served longest ago, and of that the mail that is
-- due for longest. So one sender's mails, however many and however dear to read, hold up another's by one at most (H3).
create function claim_received_mail(p_lease uuid, p_stale interval, p_home text) returns setof intake_mails
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_id uuid;
  v_turn text;
begin
  select x.id into v_id from intake_mails x where x.lease = p_lease and x.step = 'received' for no key update;
  if v_id is null then
    for v_turn in
      with recursive w as (
        (select x.turn from intake_mails x where x.step = 'received' order by x.turn limit 1)
        union all
        select (select x.turn from intake_mails x where x.step = 'received' and x.turn > w.turn order by x.turn limit 1)
        from w where w.turn is not null
      )
      select w.turn from w
      cross join lateral (
        select min(x.not_before) as due from intake_mails x
        where x.step = 'received' and x.turn = w.turn and x.not_before <= clock_timestamp() and (x.home is null or x.home = p_home)
          and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)
      ) d
      where w.turn is not null and d.due is not null
      order by (select max(x.claimed_at) from intake_mails x where x.turn = w.turn and x.claimed_at is not null) nulls first, d.due
    loop
      select x.id into v_id from intake_mails x
      where x.step = 'received' and x.turn = v_turn and x.not_before <= clock_timestamp() and (x.home is null or x.home = p_home)
        and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)
      order by x.not_before
      limit 1
      for no key update skip locked;
      exit when v_id is not null;
    end loop;
  end if;
  return query
    update intake_mails m set
      former_lease = case when m.lease is not distinct from p_lease then m.former_lease else coalesce(m.lease, m.former_lease) end,
      lease = p_lease, heartbeat_at = clock_timestamp(),
      claimed_at = case when m.lease is not distinct from p_lease then m.claimed_at else clock_timestamp() end,
      attempts = m.attempts + (m.lease is distinct from p_lease)::integer
    where m.id = v_id
    returning m.*;
end
$$;

-- Claims a mail to be converted, of at most `p_most_pages` pages (null: of any number): customers take turns (H3), and of one the mail
-- that is due for longest. A customer of whom a mail is being converted is passed over as long as another one waits, with `p_idle_only`
-- altogether. The same call again returns the same mail. Lock order: turn, mail; claims come one after another, and lock nothing where
-- nothing waits. A claim that is stuck, with its session or its disk, holds up no other for long: that goes by the turn as it was.
create function claim_converting_mail(
  p_lease uuid, p_stale interval, p_home text, p_most_pages integer default null, p_idle_only boolean default false
) returns setof intake_mails
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_patience text := current_setting('lock_timeout');
  v_takes_turn boolean := true;
  v_last uuid;
  v_owner uuid;
  v_id uuid;
begin
  select m.id into v_id from intake_mails m where m.step = 'converting' and m.lease = p_lease for no key update;
  if v_id is null and exists (
    select from intake_mails m
    where m.step = 'converting' and m.not_before <= v_now and (m.lease is null or m.heartbeat_at < v_now - p_stale)
      and (m.home is null or m.home = p_home)
  ) then
    -- The next claim waits for this one's commit, which need not wait for the disk: a claim that a crash of the server undoes is no
    -- claim, and its worker's next heartbeat ends it.
    perform set_config('synchronous_commit', 'off', true);
    begin
      perform set_config('lock_timeout', '250ms', true);
      select t.customer_id into v_last from work_turns t where t.kind = 'mail' for no key update;
    exception when lock_not_available then
      v_takes_turn := false;
      select t.customer_id into v_last from work_turns t where t.kind = 'mail';
    end;
    perform set_config('lock_timeout', v_patience, true);
    for v_owner in
      -- From owner to owner by the index.
      with recursive owners as (
        (select m.customer_id from intake_mails m where m.step = 'converting' order by m.customer_id limit 1)
        union all
        select (
          select m.customer_id from intake_mails m
          where m.step = 'converting' and m.customer_id > o.customer_id
          order by m.customer_id limit 1
        )
        from owners o where o.customer_id is not null
      )
      select o.customer_id
      from owners o
      cross join lateral (
        select exists (
          select from intake_mails m
          where m.customer_id = o.customer_id and m.step = 'converting' and m.lease is not null
            and m.heartbeat_at >= v_now - p_stale
        ) as is_busy
      ) b
      where o.customer_id is not null and not (p_idle_only and b.is_busy)
      order by b.is_busy, o.customer_id <= v_last, o.customer_id
    loop
      select m.id into v_id from intake_mails m
      where m.customer_id = v_owner and m.step = 'converting' and m.not_before <= v_now
        and (m.lease is null or m.heartbeat_at < v_now - p_stale) and (p_most_pages is null or m.pages <= p_most_pages)
        and (m.home is null or m.home = p_home)
      order by m.not_before
      limit 1
      for no key update skip locked;
      exit when v_id is not null;
    end loop;
    if v_id is not null and v_takes_turn then
      update work_turns t set customer_id = v_owner where t.kind = 'mail';
    end if;
  end if;
  return query
    update intake_mails m set
      former_lease = case when m.lease is not distinct from p_lease then m.former_lease else coalesce(m.lease, m.former_lease) end,
      lease = p_lease, heartbeat_at = clock_timestamp(), attempts = m.attempts + (m.lease is distinct from p_lease)::integer
    where m.id = v_id
    returning m.*;
end
$$;

-- The mail is alive. Lock order: mail, customer, hold.
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

-- Hands a mail back, to be claimed again after `p_after`; the attempt counts where `p_counts`.
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

-- Hands a mail back after `p_part` failed, to be claimed again after `p_after`: no attempt is lost, and what is set aside for
-- it stays so for `p_window` (INBOUND-12). Failures of one part with no more than `p_gap` between them are one outage.
-- Returns `deferred`, `over` (the outage lasts longer than `p_limit`; nothing was written) or `stale`. A worker whose lease
-- was taken over meanwhile had not died: the attempt that was counted for it is taken back. Lock order: mail, customer, hold.
create function defer_mail(
  p_id uuid, p_lease uuid, p_after interval, p_part text, p_gap interval, p_limit interval, p_window interval
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_now timestamptz := clock_timestamp();
  v_since timestamptz := v_now;
begin
  select * into m from intake_mails where id = p_id and step <> 'ended' for no key update;
  if not found then
    return 'stale';
  end if;
  if m.lease is distinct from p_lease then
    update intake_mails set attempts = greatest(attempts - 1, 0), former_lease = null
    where id = p_id and former_lease = p_lease;
    return 'stale';
  end if;
  if m.failing_part = p_part and m.failed_at > v_now - p_gap then
    v_since := m.failing_since;
  end if;
  if v_since < v_now - p_limit then
    return 'over';
  end if;
  update intake_mails set
    lease = null, heartbeat_at = null, not_before = v_now + p_after, attempts = greatest(attempts - 1, 0),
    failures = failures + 1, failing_part = p_part, failed_at = v_now, failing_since = v_since
  where id = p_id;
  perform refresh_hold(p_id, p_window);
  return 'deferred';
end
$$;


-- A mail's way: identify, admit, complete or end (INBOUND-8)

-- Claims the identity of a mail before any work for it (INBOUND-7, I1). A mail with a signature that another mail of the
-- sender carried is that mail, whatever its Message-ID. Returns `claimed` (by this mail, now or earlier), `duplicate`
-- (another mail has it; this one has ended), `limited` (more than `p_limit` mails of the sender within an hour; it has ended)
-- or `stale`. Lock order: mail, identities in their order, so that two deliveries of one mail do not wait for each other.
create function identify_mail(
  p_id uuid, p_lease uuid, p_identity text, p_message_id text, p_sender text, p_sha256 text, p_subject text,
  p_references text, p_limit integer, p_signatures text[] default '{}'
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
    -- By identity, so that two deliveries of one mail do not wait for each other.
    insert into intake_identities (identity, mail_id)
    select s, p_id from (select distinct unnest(p_signatures) as s order by 1) x
    on conflict do nothing;
    if exists (select from intake_identities i where i.identity = any (p_signatures) and i.mail_id <> p_id) then
      raise unique_violation;
    end if;
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

-- Sets the funds aside, queues the acknowledgement and lets the conversion begin, all or nothing. Returns `admitted`,
-- `insufficient` (nothing was written; the plan and what could be spent come with it) or `stale`. The next step begins with
-- no failures of this one. Lock order: mail, customer, hold.
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
    ignored = p_ignored, source_key = p_source_key, lease = null, heartbeat_at = null, attempts = 0, former_lease = null,
    failures = 0, failing_part = null, failing_since = null, failed_at = null, not_before = clock_timestamp()
  where id = p_id;
  perform queue_reply(p_id, p_recipient, p_ack);
  return query select 'admitted', null::text, null::integer;
end
$$;

-- The result is stored: in one transaction what was set aside becomes the charge for `p_pages`, the result's reply is queued
-- (`creditsCharged` and `balance` added) and the job logged. So a charge is there exactly if its reply is (F2). Pages that
-- could not be read are pages of the file, and are not charged (R2). Returns `completed` (by this lease, now or earlier),
-- `insufficient` (more pages than were set aside, and no funds for them; nothing was written) or `stale`. Lock order: mail,
-- customer, hold.
create function complete_mail(
  p_id uuid, p_lease uuid, p_pages integer, p_standard integer, p_complex integer, p_result_key text,
  p_result_bytes bigint, p_recipient text, p_reply jsonb, p_as_link boolean
) returns table (answer text, plan text, balance integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  f record;
  -- All pages, those that could not be read and are not charged included.
  v_total integer := p_pages + coalesce(jsonb_array_length(p_reply -> 'unreadablePages'), 0);
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
  if not widen_hold(p_id, p_pages) or settle_hold(p_id, p_pages) <> 'settled' then
    return query select 'insufficient', x.plan, greatest(x.credits, x.free_pages) from available_funds(m.customer_id, p_id) x;
    return;
  end if;
  update intake_mails set
    step = 'ended', outcome = 'success', pages = v_total, result_key = p_result_key, result_bytes = p_result_bytes,
    ended_at = clock_timestamp()
  where id = p_id;
  insert into conversion_jobs (
    id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, standard_pages, complex_pages,
    credits_charged, status
  ) values (
    p_id, m.customer_id, m.sender, m.filename, 'pdf', m.file_bytes, v_total, p_standard, p_complex, p_pages, 'success'
  );
  select * into f from available_funds(m.customer_id);
  insert into intake_replies (mail_id, kind, recipient, content, as_link) values (
    p_id, p_reply ->> 'kind', p_recipient,
    p_reply || jsonb_build_object('creditsCharged', p_pages, 'balance', greatest(f.credits, f.free_pages)), p_as_link
  );
  return query select 'completed', f.plan, greatest(f.credits, f.free_pages);
end
$$;

-- True for the first reply of the day to `p_sender`, who has no account.
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

-- Ends a mail without a result: nothing is charged, what was set aside is released, the reply (null: none) is queued and a
-- conversion that had begun is logged (`p_error`), in one transaction. A reply to a stranger (`p_stranger`) goes out once a
-- day. Of replies that only say how to send a file, `p_brake` go to one address within an hour, so that a program that
-- answers each of them gets no more (INBOUND-5). Returns whether this lease ended it, now or earlier. Lock order: mail,
-- customer, hold.
create function end_mail(
  p_id uuid, p_lease uuid, p_outcome text, p_reason text, p_customer_id uuid, p_filename text, p_file_bytes integer,
  p_error text, p_recipient text, p_reply jsonb, p_stranger boolean, p_brake integer default null
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_braked boolean := false;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease then
    return false;
  end if;
  if m.step = 'ended' then
    return true;
  end if;
  if p_reply is not null and p_brake is not null then
    -- Under the customer's lock, so that two mails at once do not both pass.
    perform from customers where email = p_recipient for no key update;
    v_braked := p_brake <= (
      select count(*) from (
        select from intake_replies r
        where r.recipient = p_recipient and r.kind in ('no-attachment', 'unsupported-file', 'misaddressed')
          and r.created_at > clock_timestamp() - interval '1 hour'
        limit p_brake
      ) recent
    );
  end if;
  perform release_hold(p_id, p_outcome);
  update intake_mails set
    step = 'ended', outcome = p_outcome,
    reason = p_reason || case when v_braked then format(' (not answered: %s such replies within an hour)', p_brake) else '' end,
    customer_id = coalesce(p_customer_id, customer_id),
    filename = coalesce(p_filename, filename), file_bytes = coalesce(p_file_bytes, file_bytes), ended_at = clock_timestamp()
  where id = p_id;
  if p_error is not null then
    insert into conversion_jobs (id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, status, error_message)
    values (p_id, coalesce(p_customer_id, m.customer_id), coalesce(m.sender, p_recipient), coalesce(p_filename, m.filename), 'pdf',
      coalesce(p_file_bytes, m.file_bytes, 0), coalesce(m.pages, 0), 'error', p_error)
    on conflict (id) do nothing;
  end if;
  if p_reply is not null and not v_braked and (not p_stranger or first_today(p_recipient)) then
    perform queue_reply(p_id, p_recipient, p_reply);
  end if;
  return true;
end
$$;


-- Replies: claim, end, retry

-- Claims the reply that has waited longest, for `p_for`; not before the replies of its mail that were queued before it have
-- ended.
create function claim_reply(p_lease uuid, p_for interval, p_home text)
returns table (
  id uuid, mail_id uuid, recipient text, content jsonb, as_link boolean, attempts integer, unknowns integer,
  created_at timestamptz, message_id text, thread_references text, subject text, filename text, result_key text,
  result_bytes bigint
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from intake_replies x
    where x.status = 'queued' and x.not_before <= clock_timestamp()
      and exists (select from intake_mails m where m.id = x.mail_id and (m.home is null or m.home = p_home))
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
  returning r.id, r.mail_id, r.recipient, r.content, r.as_link, r.attempts, r.unknowns,
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

-- A reply did not go out: it is tried again after `p_after`, as a link if `p_as_link`; `p_unknown`: it may have gone out.
create function retry_reply(
  p_id uuid, p_lease uuid, p_after interval, p_error text, p_as_link boolean, p_unknown boolean default false
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_replies set
    lease = null, not_before = clock_timestamp() + p_after, error = p_error, as_link = as_link or p_as_link,
    unknowns = unknowns + case when p_unknown then 1 else 0 end
  where id = p_id and lease = p_lease and status = 'queued';
  return found;
end
$$;


-- What admins do about a mail (`IncomingMails`)

-- A mail that waits is due now, with all its attempts. Of one that has ended, the replies that did not go out are; a result's only
-- while it is there. Returns `retried`, `ended` (there is nothing to try again) or null (there is no such mail).
create function retry_incoming_mail(p_id uuid) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found then
    return null;
  end if;
  if m.step <> 'ended' then
    update intake_mails set
      not_before = clock_timestamp(), failures = 0, failing_part = null, failing_since = null, failed_at = null,
      attempts = case when lease is null then 0 else 1 end
    where id = p_id;
    return 'retried';
  end if;
  update intake_replies set
    status = 'queued', lease = null, attempts = 0, unknowns = 0, error = null, ended_at = null, not_before = clock_timestamp()
  where mail_id = p_id and status = 'failed' and kind <> 'processing-started'
    and (kind <> 'success' or m.cleaned is distinct from 'all');
  return case when found then 'retried' else 'ended' end;
end
$$;

-- Ends a mail that has not ended: its worker has lost its lease, what was set aside is released, and a customer gets an error reply.
-- Returns `set_aside`, `ended` (it had ended) or null. Lock order: mail, customer, hold.
create function set_mail_aside(p_id uuid, p_reason text, p_reply text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_email text;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found then
    return null;
  end if;
  if m.step = 'ended' then
    return 'ended';
  end if;
  select c.email into v_email from customers c
  where (c.id = m.customer_id or c.email = m.sender) and c.deleted_at is null
  limit 1;
  perform release_hold(p_id, 'error');
  update intake_mails set
    step = 'ended', outcome = 'error', reason = p_reason, lease = null, heartbeat_at = null, ended_at = clock_timestamp()
  where id = p_id;
  if m.step = 'converting' then
    insert into conversion_jobs (id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, status, error_message)
    values (p_id, m.customer_id, coalesce(m.sender, v_email, ''), coalesce(m.filename, ''), 'pdf', coalesce(m.file_bytes, 0),
      coalesce(m.pages, 0), 'error', p_reason)
    on conflict (id) do nothing;
  end if;
  if v_email is not null then
    perform queue_reply(p_id, v_email, jsonb_build_object(
      'kind', 'error', 'fileName', coalesce(m.filename, 'Your file'), 'reason', p_reply
    ));
  end if;
  return 'set_aside';
end
$$;


-- Results that are kept, and upkeep

-- Results of a customer's mails that stand behind a link, whether or not a reply brought it: newest first, with their end
-- (INBOUND-12, R1).
create function kept_mail_results(p_customer_id uuid, p_link_lives interval)
returns table (
  id uuid, name text, pages integer, unreadable_pages jsonb, has_text boolean, credits integer, converted_at timestamptz, reply text,
  expires_at timestamptz
)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select m.id, m.filename, j.total_pages, coalesce(r.content -> 'unreadablePages', '[]'),
    coalesce((r.content ->> 'hasText')::boolean, true), j.credits_charged, m.ended_at, r.status,
    case when r.status = 'failed' then r.ended_at else m.ended_at end + p_link_lives
  from intake_mails m
  join intake_replies r on r.mail_id = m.id and r.kind = 'success' and (r.as_link or r.status <> 'sent')
  join conversion_jobs j on j.id = m.id
  where m.customer_id = p_customer_id and m.outcome = 'success' and m.result_key is not null
    and m.cleaned is distinct from 'all'
    and case when r.status = 'failed' then r.ended_at else m.ended_at end > clock_timestamp() - p_link_lives
  order by m.ended_at desc
  limit 100
$$;

-- Mails that have ended and whose replies have gone, with objects still there; `everything` where the result may go, too: it
-- was attached, or the time is over for which it stays behind its link, or after a reply that failed.
create function mails_to_clean(p_limit integer, p_link_lives interval, p_home text) returns table (id uuid, everything boolean)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select m.id, w.everything
  from intake_mails m
  cross join lateral (
    select m.result_key is null or not exists (
      select from intake_replies r
      where r.mail_id = m.id and r.kind = 'success' and (
        (r.as_link and m.ended_at >= clock_timestamp() - p_link_lives)
        or (r.status = 'failed' and r.ended_at >= clock_timestamp() - p_link_lives))
    ) as everything
  ) w
  where m.step = 'ended' and m.cleaned is distinct from 'all' and (m.cleaned is null or w.everything)
    and (m.home is null or m.home = p_home)
    and not exists (select from intake_replies r where r.mail_id = m.id and r.status = 'queued')
  order by m.ended_at
  limit p_limit
$$;

-- Deletes mails and strangers that ended long ago. Called by housekeeping.
create function purge_intake() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from intake_mails where step = 'ended' and cleaned = 'all' and ended_at < clock_timestamp() - interval '90 days';
  delete from intake_strangers where replied_at < clock_timestamp() - interval '2 days';
$$;

-- The part of `erase_person` that is about convert-by-email; returns whether anything was found. A mail under way ends here:
-- its worker has lost its lease and writes nothing more, and what was set aside is released. What is left of a mail is that
-- there was one; its objects go with the next cleaning, results behind links among them. Charges stay, without a name. Lock
-- order: mails by id, customer, hold; so the caller runs it before it locks the customer.
create function erase_intake_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_customer uuid;
  v_mails uuid[];
  v_id uuid;
  v_found boolean;
begin
  select c.id into v_customer from customers c where c.email = p_email;
  select array_agg(l.id) into v_mails
  from (
    select x.id from intake_mails x
    where x.sender = p_email or lower(x.envelope_from) = p_email or x.customer_id = v_customer
      or exists (select from intake_replies r where r.mail_id = x.id and r.recipient = p_email)
    order by x.id
    for no key update
  ) l;
  v_found := v_mails is not null;
  delete from intake_replies where mail_id = any (v_mails);
  delete from intake_identities where mail_id = any (v_mails);
  foreach v_id in array coalesce(v_mails, '{}') loop
    perform release_hold(v_id, 'cancelled');
  end loop;
  update intake_mails set
    step = 'ended', outcome = coalesce(outcome, 'error'), reason = 'the person was erased',
    ended_at = coalesce(ended_at, clock_timestamp()), envelope_from = '', identity = null, message_id = null, sender = null,
    content_sha256 = null, subject = null, thread_references = null, filename = null, ignored = '[]', source_key = null,
    result_key = null, lease = null, cleaned = null, turn = ''
  where id = any (v_mails);
  update conversion_jobs set sender_email = erased_alias(p_email), filename = '', error_message = null
  where sender_email = p_email or customer_id = v_customer;
  v_found := v_found or found;
  delete from intake_strangers where sender = p_email;
  return v_found or found;
end
$$;

select secure_table(name) from unnest(array[
  'conversion_jobs', 'intake_mails', 'intake_identities', 'intake_replies', 'intake_strangers', 'intake_link_keys'
]::regclass[]) as name;

select secure_function(name) from unnest(array[
  'receive_mail(uuid, text, bigint, text, boolean, text, text, text, text)',
  'claim_received_mail(uuid, interval, text)',
  'claim_converting_mail(uuid, interval, text, integer, boolean)',
  'heartbeat_mail(uuid, uuid, interval)',
  'hand_back_mail(uuid, uuid, interval, boolean)',
  'defer_mail(uuid, uuid, interval, text, interval, interval, interval)',
  'identify_mail(uuid, uuid, text, text, text, text, text, text, integer, text[])',
  'queue_reply(uuid, text, jsonb)',
  'admit_mail(uuid, uuid, uuid, text, integer, integer, jsonb, text, interval, text, jsonb)',
  'complete_mail(uuid, uuid, integer, integer, integer, text, bigint, text, jsonb, boolean)',
  'first_today(text)',
  'end_mail(uuid, uuid, text, text, uuid, text, integer, text, text, jsonb, boolean, integer)',
  'claim_reply(uuid, interval, text)',
  'end_reply(uuid, uuid, text, text)',
  'retry_reply(uuid, uuid, interval, text, boolean, boolean)',
  'retry_incoming_mail(uuid)',
  'set_mail_aside(uuid, text, text)',
  'kept_mail_results(uuid, interval)',
  'mails_to_clean(integer, interval, text)',
  'purge_intake()',
  'erase_intake_person(text)'
]::regprocedure[]) as name;
