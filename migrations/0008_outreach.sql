-- Outreach: campaign sends, prospects, and unsubscribes (EVENT-70).
-- Rules: docs/reference/specification/delivery.md, "Outreach".

create table prospects (
  id uuid primary key default gen_random_uuid(),
  -- Bare and lower-case.
  email text not null unique check (email = lower(email collate "C") and email <> ''),
  name text,
  status text not null default 'active' check (prospect_rank(status) is not null),
  last_contacted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create trigger prospects_address before insert or update of email on prospects
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

-- One row a campaign send; made before the mail goes out, or by its first event.
create table email_sends (
  id uuid primary key default gen_random_uuid(),
  prospect_id uuid references prospects (id) on delete set null,
  campaign text,
  subject text,
  -- Unique: one mail of a campaign goes to a prospect once.
  idempotency_key text unique,
  provider_message_id text unique,
  status text not null default 'queued' check (campaign_send_rank(status) is not null),
  error text,
  error_kind text,
  -- When the first attempt without a known end began.
  attempted_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  -- The first open and the first click.
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  open_count integer not null default 0,
  click_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index email_sends_prospect on email_sends (prospect_id);
create index email_sends_campaign on email_sends (campaign, created_at desc);
-- Deferred sends without a recorded end (R3).
create index email_sends_deferred on email_sends (created_at) where status = 'deferred';

-- The events that count, each once; what `email_sends` shows of events is computed from these, and so does not depend on
-- their order.
create table email_send_events (
  provider_message_id text not null,
  -- The event and its moment; without one, and the bus's own id of it.
  identity text not null,
  event text not null,
  occurred_at timestamptz not null,
  primary key (provider_message_id, identity)
);

-- Addresses that get no outreach, whatever the campaign, and no other marketing (MAIL-65). Shown and lifted in the suppression list.
create table unsubscribes (
  email text primary key check (email = lower(email collate "C") and email <> ''),
  reason text not null default 'manual' check (reason in ('one_click', 'complaint', 'manual')),
  -- The campaign that led to it.
  campaign text,
  created_at timestamptz not null default now()
);

create index unsubscribes_created on unsubscribes (created_at desc, email);

create trigger unsubscribes_address before insert or update of email on unsubscribes
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

-- The key of unsubscribe links: kept here and nowhere else, so that links in old mail outlive every change of settings.
create table unsubscribe_keys (
  id smallint primary key default 1 check (id = 1),
  key bytea not null check (octet_length(key) = 32),
  created_at timestamptz not null default now()
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into unsubscribe_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

select secure_table(name) from unnest(array[
  'prospects', 'email_sends', 'email_send_events', 'unsubscribes', 'unsubscribe_keys'
]::regclass[]) as name;
