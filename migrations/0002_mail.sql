-- Outbound mail: the send log, the suppression list, claims on idempotency keys, and the delayed retry queue.
-- Rules: docs/reference/specification/outbound-mail.md.

-- The send log (MAIL-70 to MAIL-72). Status moves a row through its life and is indexed, so that updates are never
-- heap-only: no fill factor leaves room for them.
create table email_log (
  id uuid primary key default gen_random_uuid(),
  -- `unknown` where only delivery events wrote the row: mail that was sent outside the library.
  category text not null default 'unknown',
  source text,
  -- Bare addresses; recipients in lower case.
  from_address text,
  to_addresses text[] not null default '{}',
  -- Cc and Bcc.
  other_addresses text[] not null default '{}',
  -- Distinct addresses of both; null where only events wrote the row.
  recipient_count integer,
  subject text,
  -- The outcome that the library recorded; null where only events wrote the row.
  outcome text,
  status text not null,
  provider text,
  provider_message_id text,
  -- The latest event by occurrence, also where it did not move `status`; `raw` is that event as it came.
  last_event text,
  last_event_at timestamptz,
  raw jsonb,
  error text,
  error_kind text,
  failed_over boolean not null default false,
  cost_usd numeric,
  idempotency_key text,
  -- SHA-256 hex of the idempotency key; null where only events wrote the row and their tag names no key of this installation.
  key_hash text,
  -- What delivery events bring back as the tag `postlane_key`: one use of a key (MAIL-12). Of a row that only events wrote it may be
  -- the tag of another installation that mails through the same account; no row of this one has that tag.
  key_tag text,
  -- The one alert about this mail is claimed (or, for backfill, never goes out: EVENT-32).
  alerted_at timestamptz,
  -- `reason:address` for each automatic suppression that this row's events asked for, so that an event that comes again
  -- does not bring back a suppression that was lifted; `reason:` alone waits for the row to name the recipient (EVENT-14).
  suppression_marks text[] not null default '{}',
  -- The id that the library asked for, where an event had made the row before: it makes the entry idempotent.
  entry_id uuid,
  -- When the row was written, not when its transaction began: of two writers of a key the one that waited is the newer.
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default now(),
  -- Recipients that were left out because they are suppressed (MAIL-62).
  dropped_addresses text[] not null default '{}',
  -- What a deferred attempt costs if it turns out to have been accepted (MAIL-72).
  accepted_cost_usd numeric,
  -- Only where the poll has seen the mail: the latest event that came by webhook (`received`), and the latest that the
  -- provider's list showed (`listed`), each an `email_account`. `last_event`, `last_event_at` and `raw` are one of the two.
  accounts jsonb,
  -- When the retry of a deferral is due.
  retry_at timestamptz,
  -- The attempts at providers behind the row (MAIL-74), each an `Attempt` of the domain; null where there was none. A separate
  -- table would cost a send a fifth more of the database's time.
  attempts jsonb,
  -- The span of the send as W3C writes it, where it was traced: spans of later events link to it.
  traceparent text,
  constraint email_log_words check (email_log_words_are_known(category, outcome, status, error_kind))
);

-- What the library says of one attempt, ready for its row: an entry of `record_email_sends`.
create type email_log_row as (
  ordinal integer, id uuid, category text, source text, from_address text, to_addresses text[], other_addresses text[],
  dropped_addresses text[], subject text, outcome text, error text, error_kind text, failed_over boolean, cost_usd numeric,
  accepted_cost_usd numeric, idempotency_key text, key_hash text, key_tag text, provider text, provider_message_id text,
  retry_at timestamptz, attempts jsonb, traceparent text
);

-- What an event says of a mail, and when: the shape of the two accounts.
create type email_account as (event text, moment timestamptz, raw jsonb);

create unique index email_log_provider_message on email_log (provider, provider_message_id);
create index email_log_key on email_log (key_hash, provider, created_at) where key_hash is not null;
-- Without the rows of ordinary sends, so that these pay nothing for it.
create index email_log_tag on email_log (key_tag) where key_tag is not null and outcome is distinct from 'sent';
create unique index email_log_entry on email_log (entry_id) where entry_id is not null;
-- Rows that events made, with suppressions that wait until the library has written the recipients.
create index email_log_waiting on email_log (created_at)
  where outcome is null and suppression_marks && array['hard_bounce:', 'complaint:'];
-- Covers the statistics and the alarms: an index-only scan answers them.
create index email_log_created on email_log (created_at desc, id desc)
  include (category, provider, status, failed_over, cost_usd);
-- Few rows: what was accepted and ended without being delivered (EVENT-16).
create index email_log_undelivered on email_log (created_at) include (category, provider, status)
  where error is not null and status in ('sent', 'delivery_delayed');
create index email_log_status on email_log (status, created_at desc, id desc);
create index email_log_category on email_log (category, created_at desc, id desc);
create index email_log_provider on email_log (provider, created_at desc, id desc);
-- The filter by recipient covers all addresses (EVENT-60). Queries must repeat this exact expression.
create index email_log_recipient on email_log using gin ((to_addresses || other_addresses || dropped_addresses));

-- The filter by a part of the subject uses trigrams where the extension is available, else it reads the table (EVENT-60).
do $$
declare
  v_schema text;
begin
  begin
    create extension if not exists pg_trgm with schema public;
  exception
    when insufficient_privilege or undefined_file or feature_not_supported or invalid_parameter_value then
      raise notice 'extension pg_trgm is not available: the subject filter of the email log will read the table';
    when unique_violation then null;
  end;
  select n.nspname into v_schema
  from pg_extension x join pg_namespace n on n.oid = x.extnamespace
  where x.extname = 'pg_trgm';
  if v_schema is not null then
    execute format('create index email_log_subject on email_log using gin (subject %I.gin_trgm_ops)', v_schema);
  end if;
end
$$;

-- Addresses that the library does not mail (MAIL-60, MAIL-61).
create table email_suppressions (
  email text not null check (email = lower(email collate "C") and email <> ''),
  reason text not null check (reason in ('hard_bounce', 'complaint', 'manual')),
  note text,
  created_at timestamptz not null default now(),
  primary key (email, reason)
);

create index email_suppressions_created on email_suppressions (created_at desc, email, reason);
create index email_suppressions_reason on email_suppressions (reason, created_at desc, email);

create trigger email_suppressions_address before insert or update of email on email_suppressions
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

-- Suppressions of erased people (P3). SHA-256 of the address: it can be recognised, not read.
create table erased_suppressions (
  address_hash bytea not null check (octet_length(address_hash) = 32),
  reason text not null check (reason in ('hard_bounce', 'complaint', 'manual')),
  created_at timestamptz not null default now(),
  primary key (address_hash, reason)
);

-- Claims on idempotency keys that callers chose, and leases of retries (MAIL-40 to MAIL-44). Mirrors `Claim` in the domain.
create table email_send_claims (
  key_hash text primary key,
  -- Empty where a retry made the claim: any payload fits.
  payload_hash text not null,
  state text not null check (is_email_claim_state(state)),
  provider text not null,
  ambiguous boolean not null,
  -- A request may have left; false where its holder has to say so first.
  leaving boolean not null default true,
  owner text not null,
  -- Null where no attempt is under way.
  lease_until timestamptz,
  first_attempt_at timestamptz not null,
  -- No attempt of this use of the key can have been accepted later: the key is held for 24 hours from then on.
  last_attempt_at timestamptz not null default clock_timestamp(),
  -- What the requests of this use carry; null where they carry no tag.
  tag text,
  result jsonb,
  updated_at timestamptz not null default now()
) with (fillfactor = 70);

create index email_send_claims_first_attempt on email_send_claims (first_attempt_at);
create index email_send_claims_tag on email_send_claims (tag) where tag is not null;

-- A call that asks for a key: an entry of `begin_email_sends`, in SQL's types.
create type email_claim_entry as (
  ordinal integer,
  key_hash text,
  payload_hash text,
  provider text,
  owner text,
  lease interval,
  -- Of the key's first use.
  tag text,
  -- What the calling process remembers of the key.
  known jsonb,
  suppressions jsonb
);

-- What the call gets: see `begin_email_sends`.
create type email_claim_decision as (
  decision text,
  sticky text,
  takeover boolean,
  late boolean,
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  tag text,
  result jsonb,
  leaving boolean,
  -- The same call asked before.
  owned boolean
);

-- The secret of the installation, that its tags are made with (MAIL-12): kept here and nowhere else. Claims and rows keep the tags
-- that they were made with, so that it may be replaced at any time.
create table email_tag_secrets (
  id smallint primary key default 1 check (id = 1),
  secret bytea not null check (octet_length(secret) = 32),
  inner_pad bytea not null generated always as (email_tag_pad(secret, 54)) stored,
  outer_pad bytea not null generated always as (email_tag_pad(secret, 92)) stored,
  created_at timestamptz not null default now()
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into email_tag_secrets (secret)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Sends that went out without look-up and claim since the database did not answer (MAIL-45), as their processes told it afterwards.
create table email_unclaimed_sends (
  noted_at timestamptz not null default now(),
  count integer not null check (count > 0)
);

create index email_unclaimed_sends_noted on email_unclaimed_sends (noted_at);

-- The delayed retry queue where there is no SQS (MAIL-50): what Effect's PersistedQueue (effect 4.1.0) makes for the table
-- name `email_defer_queue`, with its two upgrades marked as applied, so that at run time its own migrator finds nothing
-- to do and the service role needs no right to create tables. Its times are without a zone: sessions run in UTC.
create table email_defer_queue (
  sequence bigserial primary key,
  id varchar(255) not null,
  queue_name varchar(255) not null,
  element text not null,
  attempts integer not null default 0,
  last_failure text,
  acquired_at timestamp,
  acquired_by uuid,
  created_at timestamp not null,
  updated_at timestamp not null,
  state varchar(10) not null,
  visible_at timestamp not null
);

create unique index idx_email_defer_queue_id on email_defer_queue (id, queue_name);
create index idx_email_defer_queue_update on email_defer_queue (sequence, acquired_by);
create index idx_email_defer_queue_take on email_defer_queue (queue_name, visible_at) where state = 'pending';

create table email_defer_queue_migrations (
  migration_id integer primary key,
  created_at timestamptz not null default now(),
  name text not null
);

insert into email_defer_queue_migrations (migration_id, name) values (1, 'create_table'), (2, 'upgrade_schema');

select secure_table(name) from unnest(array[
  'email_log', 'email_suppressions', 'erased_suppressions', 'email_send_claims', 'email_tag_secrets', 'email_unclaimed_sends',
  'email_defer_queue', 'email_defer_queue_migrations'
]::regclass[]) as name;

do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant all on sequence email_defer_queue_sequence_seq to service_role;
  end if;
end
$$;
