-- Accounts: customers and how they sign in, promotions, teams, the forms, closing and erasing, and funds.
-- Rules: docs/reference/specification/documents.md (DOC-30 to DOC-33, DOC-50 to DOC-53) and http.md (HTTP-2).

create table customers (
  id uuid primary key default gen_random_uuid(),
  -- Bare and lower-case, as intake looks it up.
  email text not null unique check (email = lower(email collate "C") and email <> ''),
  name text,
  plan_type text not null default 'free' check (plan_type in ('free', 'paid')),
  -- Paid tier only.
  credits_remaining integer default 0 check (credits_remaining >= 0),
  lifetime_free_pages_used integer not null default 0 check (lifetime_free_pages_used between 0 and 10),
  created_at timestamptz not null default now(),
  -- When the account was closed. The row stays, so that the count of free pages does not restart; tokens and sessions end.
  deleted_at timestamptz
);

create index customers_created on customers (created_at desc, id desc);
create index customers_closed on customers (id) where deleted_at is not null;
create index customers_erased on customers (email text_pattern_ops) where email like 'erased:%';

-- People who work on the admin pages and sign in by mail; machines have tokens (DOC-54).
create table admins (
  -- Bare and lower-case.
  email text primary key check (email = lower(email collate "C") and email <> ''),
  rights text[] not null check (are_rights(rights) and not 'owner' = any (rights)),
  -- The actor who invited them.
  invited_by text not null,
  created_at timestamptz not null default now()
);

-- No secret is stored: of tokens, sessions and links there is the SHA-256 hash of 32 random bytes, which needs no salt
-- (DOC-52).
create table api_tokens (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- The actor in audit rows.
  name text not null check (name <> ''),
  rights text[] not null check (are_rights(rights)),
  customer_id uuid references customers (id) on delete cascade,
  -- A dev token: valid for a process that runs embedded, whatever the database is used for later.
  embedded boolean not null default false,
  created_at timestamptz not null default now(),
  -- To the minute.
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  check (customer_id is not null or not 'owner' = any (rights))
);

create index api_tokens_customer on api_tokens (customer_id);

-- A session has up to three hashes: the current one, the next one once it was handed out and until it is first used, and
-- the one before for a short grace. So neither two tabs nor a lost answer log anybody out (DOC-52).
create table sessions (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  next_hash bytea unique check (octet_length(next_hash) = 32),
  next_issued_at timestamptz,
  previous_hash bytea unique check (octet_length(previous_hash) = 32),
  previous_until timestamptz,
  -- The actor in audit rows.
  actor text not null check (actor <> ''),
  rights text[] not null check (are_rights(rights)),
  customer_id uuid references customers (id) on delete cascade,
  -- The token that the session was begun with: it ends with it.
  api_token_id uuid references api_tokens (id) on delete cascade,
  -- The admin who signed in by mail: it ends when they are removed.
  admin_email text references admins (email) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  rotated_at timestamptz not null default now(),
  check (customer_id is not null or not 'owner' = any (rights))
);

create index sessions_customer on sessions (customer_id);
create index sessions_api_token on sessions (api_token_id);
create index sessions_admin on sessions (admin_email);
create index sessions_expiry on sessions (expires_at);

create table magic_links (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- One of the two or both: a person may be a customer and an admin.
  customer_id uuid references customers (id) on delete cascade,
  admin_email text references admins (email) on delete cascade,
  -- The cookie of the browser that asked: the link works in no other. Null for a promotion's link, which no browser asked for.
  browser_hash bytea check (octet_length(browser_hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  check (num_nonnulls(customer_id, admin_email) > 0)
);

create index magic_links_customer on magic_links (customer_id);
create index magic_links_admin on magic_links (admin_email);
create index magic_links_expiry on magic_links (expires_at);

-- The promotions that can be claimed. Add one by hand: insert into promos (name) values ('launch').
create table promos (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  created_at timestamptz not null default now(),
  -- From then on it is unknown to callers.
  ends_at timestamptz
);

create table promo_claims (
  id uuid primary key default gen_random_uuid(),
  promo_name text not null,
  customer_id uuid not null references customers (id) on delete cascade,
  claims integer not null default 1,
  created_at timestamptz not null default now(),
  last_claimed_at timestamptz not null default now(),
  unique (promo_name, customer_id)
);

create index promo_claims_customer on promo_claims (customer_id);

-- Team invitations: one open one of an address a team. The token is stored as its hash only.
create table team_invites (
  id uuid primary key default gen_random_uuid(),
  -- The owner of the team.
  customer_id uuid not null references customers (id) on delete cascade,
  -- Bare and lower-case.
  email text not null check (email = lower(email collate "C") and email <> ''),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- A call is sending the mail until then; a crash frees it.
  sending_until timestamptz,
  sent_at timestamptz,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_at timestamptz not null default now(),
  -- Each sending has a separate idempotency key, by which the end of a deferral is found (R3).
  mail_key text
);

create unique index team_invites_open on team_invites (customer_id, email) where accepted_at is null;
create index team_invites_email on team_invites (email);

-- Messages of the contact and feedback forms, kept and mailed until the notice has gone out (DOC-53).
create table contact_messages (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('contact', 'feedback')),
  name text,
  -- As it was written; feedback may have none.
  email text,
  message text not null,
  rating smallint check (rating between 1 and 5),
  page text,
  -- A robot filled in the field that people do not see: kept, but not reported.
  spam boolean not null default false,
  -- When its mail went out.
  notified_at timestamptz,
  created_at timestamptz not null default now(),
  -- When the next attempt is due; the first one is made when the message comes in.
  notify_after timestamptz not null default clock_timestamp() + interval '2 minutes',
  -- Attempts of the sweep, and the error of the newest one.
  notify_attempts integer not null default 0,
  notify_error text,
  -- A message of the contact form needs an address, for the answer.
  check (kind = 'feedback' or email is not null)
);

create index contact_messages_created on contact_messages (created_at desc, id desc);
create index contact_messages_email on contact_messages (lower(email));
create index contact_messages_waiting on contact_messages (notify_after) where notified_at is null and not spam;

-- What admins did, for the digest and for later questions (EVENT-61). Rows are added, never changed.
create table admin_audit_log (
  id uuid primary key default gen_random_uuid(),
  -- What was done, such as `email_unsuppress`.
  action text not null check (action <> ''),
  -- The actor.
  actor text not null,
  -- What it was done to.
  target text,
  -- Why, in that person's words.
  note text,
  details jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create index admin_audit_log_created on admin_audit_log (created_at desc, id desc);

-- Funds set aside for work under way (DOC-31). `job_id` is the conversion job, flyer job or mail; it may not exist yet.
create table funds_holds (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null unique,
  customer_id uuid not null references customers (id),
  credits integer not null default 0 check (credits >= 0),
  free_pages integer not null default 0 check (free_pages >= 0),
  state text not null default 'held' check (state in ('held', 'released', 'settled')),
  -- Why it was closed: completed, cancelled, failed, …
  outcome text,
  -- From then on the hold sets nothing aside until it is refreshed.
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  closed_at timestamptz
);

create index funds_holds_held on funds_holds (customer_id) where state = 'held';

-- What was charged, once for each piece of work (F2).
create table credit_charges (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null unique,
  customer_id uuid not null references customers (id),
  credits integer not null default 0 check (credits >= 0),
  free_pages integer not null default 0 check (free_pages >= 0),
  created_at timestamptz not null default now()
);

create index credit_charges_customer on credit_charges (customer_id, created_at desc);

-- Credits that admins gave, or took back (below zero), once for each reference of a customer (DOC-33).
create table credit_grants (
  id uuid primary key default gen_random_uuid(),
  customer_id uuid not null references customers (id),
  credits integer not null check (credits <> 0),
  reference text not null check (reference <> ''),
  actor text not null,
  created_at timestamptz not null default now(),
  unique (customer_id, reference)
);

-- Triggers fire by name: the address is in lower case before the pages are recalled by it.
create trigger customers_address before insert or update of email on customers
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

create trigger customers_recall_free_pages before insert on customers
for each row execute function recall_free_pages();

select secure_table(name) from unnest(array[
  'customers', 'admins', 'api_tokens', 'sessions', 'magic_links', 'promos', 'promo_claims', 'team_invites', 'contact_messages',
  'admin_audit_log', 'funds_holds', 'credit_charges', 'credit_grants'
]::regclass[]) as name;
