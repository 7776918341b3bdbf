-- Send log and suppression list (document 1, "email_log", "email_suppressions", "States and transitions").

-- 1 to 6 for the statuses that move forward, 100 for the terminal ones, null for anything else. Equals `statusRank`.
create function email_status_rank(p_status text) returns integer
language plpgsql
immutable
parallel safe
strict
set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- An SQL function with a search path of its own is not inlined, and costs ten times as much a call.
  return case p_status
    when 'deferred' then 1
    when 'sent' then 2
    when 'delivery_delayed' then 3
    when 'delivered' then 4
    when 'opened' then 5
    when 'clicked' then 6
    when 'suppressed' then 100
    when 'failed' then 100
    when 'bounced' then 100
    when 'complained' then 100
  end;
end
$$;

-- Whether the words of a row are of their closed sets. One call: a check with lists of literals is read anew by every
-- statement, which costs more than the insert.
create function email_log_words_are_known(p_category text, p_outcome text, p_status text, p_error_kind text)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_status in ('deferred', 'sent', 'delivery_delayed', 'delivered', 'opened', 'clicked',
      'suppressed', 'failed', 'bounced', 'complained')
    and p_category in ('auth', 'transactional', 'notification', 'alert', 'marketing', 'unknown')
    and (p_outcome is null or p_outcome in ('sent', 'deferred', 'suppressed', 'failed'))
    and (p_error_kind is null or p_error_kind in ('rejected', 'unavailable', 'ambiguous'));
end
$$;

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
  -- What the library reported; null where only events wrote the row.
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
  -- SHA-256 hex of the idempotency key: what delivery events bring back as the tag `postlane_key`.
  key_hash text,
  -- The one alert about this mail is claimed (or, for backfill, never goes out).
  alerted_at timestamptz,
  -- `reason:address` for each automatic suppression that this row's events asked for, so that an event that comes again
  -- does not bring back a suppression that was lifted; `reason:` alone waits for the row to say who the recipient is.
  suppression_marks text[] not null default '{}',
  -- The id that the library asked for, where an event had made the row before: what makes its entry idempotent.
  entry_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint email_log_words check (email_log_words_are_known(category, outcome, status, error_kind))
);

-- Status moves a row through its life and is indexed, so that updates are never heap-only: leave no room for them.
create unique index email_log_provider_message on email_log (provider, provider_message_id);
create index email_log_key on email_log (key_hash, provider, created_at) where key_hash is not null;
create unique index email_log_entry on email_log (entry_id) where entry_id is not null;
create index email_log_created on email_log (created_at desc, id desc);
create index email_log_status on email_log (status, created_at desc, id desc);
create index email_log_category on email_log (category, created_at desc, id desc);
create index email_log_provider on email_log (provider, created_at desc, id desc);
create index email_log_recipient on email_log using gin (to_addresses);

-- A part of the subject is found by trigrams where the extension is there, else by reading.
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

-- Addresses the library will not mail.
create table email_suppressions (
  email text not null check (email = lower(email collate "C") and email <> ''),
  reason text not null check (reason in ('hard_bounce', 'complaint', 'manual')),
  note text,
  created_at timestamptz not null default now(),
  primary key (email, reason)
);

create index email_suppressions_created on email_suppressions (created_at desc, email, reason);

create function is_email_claim_state(p_state text) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_state in ('held', 'accepted', 'deferred', 'refused', 'ambiguous');
end
$$;

-- Keys that callers chose, and leases of retries (contract, "the relay is safe to call again"). Mirrors `Claim`.
create table email_send_claims (
  key_hash text primary key,
  -- Empty where a retry made the claim: any payload fits.
  payload_hash text not null,
  state text not null check (is_email_claim_state(state)),
  provider text not null,
  ambiguous boolean not null,
  owner text not null,
  -- Null where nobody works on the key.
  lease_until timestamptz,
  first_attempt_at timestamptz not null,
  result jsonb,
  updated_at timestamptz not null default now()
) with (fillfactor = 70);

create index email_send_claims_first_attempt on email_send_claims (first_attempt_at);

select secure_function('email_status_rank(text)');
select secure_function('email_log_words_are_known(text, text, text, text)');
select secure_function('is_email_claim_state(text)');
select secure_table('email_log');
select secure_table('email_suppressions');
select secure_table('email_send_claims');
