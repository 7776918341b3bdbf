-- Convert-by-email: mails under way, the replies that are to go out, and what was converted.
-- Rules: docs/reference/specification/convert-by-email.md.

-- The result of each conversion that was begun for a mail (INBOUND-10).
create table conversion_jobs (
  -- The mail's id: one row a mail, however often it is worked on.
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
  -- The turn in which the mail is read: the customer who owns the verified sender address; empty for all others together.
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

select secure_table(name) from unnest(array[
  'conversion_jobs', 'intake_mails', 'intake_identities', 'intake_replies', 'intake_strangers', 'intake_link_keys'
]::regclass[]) as name;
