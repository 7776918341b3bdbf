-- Accounts: customers and how they sign in, promotions, teams, the forms, closing and erasing, and funds.
-- Rules: docs/reference/specification/documents.md (DOC-30 to DOC-33, DOC-50 to DOC-53) and http.md (HTTP-2).


-- Tables

-- Whether these are rights, and at least one. Equals `Right` in the domain.
create function are_rights(p_rights text[]) returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select p_rights <@ array['admin', 'admin:read', 'owner'] and cardinality(p_rights) > 0
$$;

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
  -- When the account was closed. The row stays, so that the free pages do not start anew; tokens and sessions end with it.
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
  -- The cookie of the browser that asked: the link works in no other. Null for the link of a promotion, which nobody
  -- asked for in a browser.
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
  -- Each sending has an idempotency key of its own, by which the end of a deferral is found (R3).
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
  -- Who did it.
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


-- Signing in (DOC-52, DOC-54)

-- The principal of a bearer token; no row for one that is unknown, revoked or expired, or whose customer is deleted. Called
-- by `Access`.
create function use_api_token(p_hash bytea, p_embedded boolean)
returns table (token_id uuid, actor text, rights text[], customer_id uuid, expires_at timestamptz)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with found as (
    select t.id, t.name, t.rights, t.customer_id, t.expires_at
    from api_tokens t left join customers c on c.id = t.customer_id
    where t.token_hash = p_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      and c.deleted_at is null and (p_embedded or not t.embedded)
  ), touched as (
    update api_tokens t set last_used_at = now()
    from found where t.id = found.id
      and (t.last_used_at is null or t.last_used_at < now() - interval '1 minute')
  )
  select f.id, f.name, f.rights, f.customer_id, f.expires_at from found f
$$;

-- The principal of a session's cookie, by any of its valid hashes; no row for a cookie that has none. `renewed`:
-- `p_next_hash` was kept, hand its cookie out. Equals `presentCookie` in the domain. Called by `Access`.
create function use_session(
  p_hash bytea, p_next_hash bytea, p_embedded boolean, p_rotate_after_seconds integer, p_grace_seconds integer
)
returns table (actor text, rights text[], customer_id uuid, expires_at timestamptz, renewed boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  s sessions;
  v_grace interval := make_interval(secs => p_grace_seconds);
  v_renewed boolean := false;
begin
  select x.* into s
  from sessions x
    left join customers c on c.id = x.customer_id
    left join api_tokens t on t.id = x.api_token_id
  where (x.token_hash = p_hash or x.next_hash = p_hash or x.previous_hash = p_hash)
    and x.expires_at > now() and c.deleted_at is null
    and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    and (p_embedded or t.embedded is not true);
  if not found then return; end if;

  if s.token_hash = p_hash then
    if s.rotated_at + make_interval(secs => p_rotate_after_seconds) <= now() then
      update sessions set next_hash = p_next_hash, next_issued_at = now()
      where id = s.id and token_hash = p_hash
        and (next_hash is null or next_issued_at + v_grace <= now());
      v_renewed := found;
    end if;
  elsif s.next_hash = p_hash then
    update sessions
    set previous_hash = token_hash, previous_until = now() + v_grace,
      token_hash = next_hash, next_hash = null, next_issued_at = null, rotated_at = now()
    where id = s.id and next_hash = p_hash;
  elsif s.previous_until <= now() then
    return;
  end if;
  return query select s.actor, s.rights, s.customer_id, s.expires_at, v_renewed;
end
$$;

-- Claims a promotion: the customer, made on the first claim, and a magic link for it. No row for a promotion that is
-- unknown or over. `p_any_promo`: one that is not listed counts as running (embedded runs). Called by `MagicLinks`.
create function claim_promo(
  p_promo text, p_any_promo boolean, p_email text, p_link_hash bytea, p_lifetime_seconds integer
)
returns table (customer_id uuid)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_ends_at timestamptz;
  v_customer uuid;
begin
  select ends_at into v_ends_at from promos where name = p_promo;
  if (not found and not p_any_promo) or v_ends_at <= now() then return; end if;
  insert into customers (email) values (p_email) on conflict (email) do nothing;
  select id into strict v_customer from customers where email = p_email;
  insert into promo_claims (promo_name, customer_id) values (p_promo, v_customer)
  on conflict (promo_name, customer_id)
    do update set claims = promo_claims.claims + 1, last_claimed_at = now();
  insert into magic_links (token_hash, customer_id, expires_at)
  values (p_link_hash, v_customer, now() + make_interval(secs => p_lifetime_seconds));
  return query select v_customer;
end
$$;

-- Makes a sign-in link for a customer whose account is open, an admin, or one who is both; no row where the address is
-- neither, or has asked for `p_most` links within an hour. Called by `MagicLinks`. Lock order: admin, customer.
create function begin_sign_in(
  p_email text, p_link_hash bytea, p_browser_hash bytea, p_lifetime_seconds integer, p_most integer
)
returns table (link_id uuid)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_lifetime interval := make_interval(secs => p_lifetime_seconds);
  v_customer uuid;
  v_admin text;
  v_known boolean;
begin
  -- The locks make requests of one person follow one another, so that the limit is exact.
  select a.email into v_admin from admins a where a.email = p_email for no key update;
  select c.id into v_customer from customers c where c.email = p_email and c.deleted_at is null for no key update;
  if v_customer is null and v_admin is null then return; end if;
  v_known := exists (
    select from magic_links l
    where (l.customer_id = v_customer or l.admin_email = v_admin) and l.browser_hash = p_browser_hash
      and l.used_at is not null
  );
  if p_most <= (
    select count(*) from magic_links l
    where (l.customer_id = v_customer or l.admin_email = v_admin) and l.browser_hash is not null
      and l.expires_at > now() + v_lifetime - interval '1 hour'
      and (not v_known or l.browser_hash = p_browser_hash)
  ) then return; end if;
  return query
    insert into magic_links (token_hash, customer_id, admin_email, browser_hash, expires_at)
    values (p_link_hash, v_customer, v_admin, p_browser_hash, now() + v_lifetime)
    returning id;
end
$$;

-- Uses a magic link up and begins a session; no row for a link that is unknown, used or too old. `other_browser`: it was
-- asked for in another browser, and is not used up. The reader of a closed account's mail may open it again by the link of a
-- promotion; closing an account deletes its other links. Called by `MagicLinks`. Lock order: admin, customer, link.
create function redeem_magic_link(
  p_link_hash bytea, p_browser_hash bytea, p_session_hash bytea, p_lifetime_seconds integer
)
returns table (customer_id uuid, actor text, rights text[], expires_at timestamptz, other_browser boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_link magic_links;
  v_actor text;
  v_rights text[];
  v_expires_at timestamptz := now() + make_interval(secs => p_lifetime_seconds);
begin
  -- First, and until the session is there: a change of their rights ends the sessions that it sees.
  select a.email, a.rights into v_actor, v_rights
  from magic_links l join admins a on a.email = l.admin_email
  where l.token_hash = p_link_hash
  for share of a;
  perform from customers where id = (select customer_id from magic_links where token_hash = p_link_hash) for no key update;
  select * into v_link from magic_links
  where token_hash = p_link_hash and used_at is null and expires_at > now()
  for update;
  if not found then return; end if;
  if v_link.browser_hash <> p_browser_hash or (v_link.browser_hash is not null and p_browser_hash is null) then
    return query select null::uuid, null::text, null::text[], null::timestamptz, true;
    return;
  end if;
  update magic_links set used_at = now() where id = v_link.id;
  if v_link.customer_id is not null then
    update customers set deleted_at = null where id = v_link.customer_id returning email into strict v_actor;
    v_rights := array['owner'] || v_rights;
  end if;
  insert into sessions (token_hash, actor, rights, customer_id, admin_email, expires_at)
  values (p_session_hash, v_actor, v_rights, v_link.customer_id, v_link.admin_email, v_expires_at);
  return query select v_link.customer_id, v_actor, v_rights, v_expires_at, false;
end
$$;

-- Lets somebody sign in as an admin: `invited`; `changed` where they had other rights, which ends their sessions; `exists`.
-- Called by `Admins`.
create function invite_admin(p_email text, p_rights text[], p_actor text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_is_new boolean;
  v_answer text;
begin
  insert into admins as a (email, rights, invited_by) values (p_email, p_rights, p_actor)
  on conflict (email) do update set rights = excluded.rights where a.rights <> excluded.rights
  -- A row that was there is locked before it is updated, and says so.
  returning a.xmax = 0 into v_is_new;
  if not found then return 'exists'; end if;
  v_answer := case when v_is_new then 'invited' else 'changed' end;
  delete from sessions where admin_email = p_email;
  insert into admin_audit_log (action, actor, target, details)
  values ('admin_' || v_answer, p_actor, p_email, jsonb_build_object('rights', p_rights));
  return v_answer;
end
$$;

-- Removes an admin, with their sessions and links. Called by `Admins`.
create function remove_admin(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  delete from admins where email = p_email;
  if not found then return false; end if;
  insert into admin_audit_log (action, actor, target) values ('admin_removed', p_actor, p_email);
  return true;
end
$$;

-- Deletes what has expired: links after a day, those that signed somebody in when their browser's cookie is over, sessions at
-- their end. Called by housekeeping.
create function purge_access() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from magic_links
  where expires_at < now() - interval '1 day'
    and (used_at is null or browser_hash is null or expires_at < now() - interval '400 days');
  delete from sessions where expires_at < now();
$$;


-- Teams. Called by `TeamInvites`.

-- An invitation, new or the open one of this address, and what is to be done about its mail:
--   Send  the caller holds the sending for `p_lease_seconds`, and this token's hash is the one that counts; `mail_key` is
--         the idempotency key of this sending
--   Sent  its mail went out before, and the link in it still works
--   Busy  another call is sending it
-- No row for a customer who is gone. An invitation whose mail was deferred and did not go out in the end is sent again
-- (R3). Lock order: customer (for share, so that closing the account and this wait for each other), invitation.
create function begin_team_invite(
  p_customer_id uuid, p_email text, p_token_hash bytea, p_lifetime_seconds integer, p_lease_seconds integer
)
returns table (invite_id uuid, todo text, inviter text, expires_at timestamptz, mail_key text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_inviter text;
  v_invite team_invites;
  v_todo text := 'Send';
begin
  -- For share: closing the account waits for this, or this waits for it.
  select coalesce(c.name, c.email) into v_inviter
  from customers c where c.id = p_customer_id and c.deleted_at is null for share;
  if not found then return; end if;
  loop
    insert into team_invites as i (customer_id, email, token_hash, expires_at, sending_until, mail_key)
    values (
      p_customer_id, p_email, p_token_hash, clock_timestamp() + make_interval(secs => p_lifetime_seconds),
      clock_timestamp() + make_interval(secs => p_lease_seconds), 'team-invite:' || gen_random_uuid()
    )
    on conflict (customer_id, email) where accepted_at is null do update
    set token_hash = excluded.token_hash, expires_at = excluded.expires_at, sending_until = excluded.sending_until,
      mail_key = excluded.mail_key, sent_at = null
    where (i.sent_at is null or i.expires_at <= clock_timestamp()
        or coalesce(email_deferral_end(i.mail_key) in ('failed', 'suppressed'), false))
      and (i.sending_until is null or i.sending_until <= clock_timestamp())
    returning * into v_invite;
    exit when found;
    select * into v_invite from team_invites i
    where i.customer_id = p_customer_id and i.email = p_email and i.accepted_at is null;
    continue when not found; -- Accepted or withdrawn since.
    v_todo := case when v_invite.sent_at is null then 'Busy' else 'Sent' end;
    exit;
  end loop;
  return query select v_invite.id, v_todo, v_inviter, v_invite.expires_at, v_invite.mail_key;
end
$$;

-- The mail of an invitation went out, or did not. A caller whose lease another one took over changes nothing.
create function end_team_invite(p_token_hash bytea, p_sent boolean) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update team_invites
  set sending_until = null, sent_at = case when p_sent then clock_timestamp() else sent_at end
  where token_hash = p_token_hash
$$;

-- Accepts an invitation, once; no row for one that is unknown, accepted, too old, or of a team that is gone.
create function accept_team_invite(p_token_hash bytea) returns table (invite_id uuid, inviter text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update team_invites i set accepted_at = clock_timestamp()
  from customers c
  where i.token_hash = p_token_hash and i.accepted_at is null and i.expires_at > clock_timestamp()
    and c.id = i.customer_id and c.deleted_at is null
  returning i.id, coalesce(c.name, c.email)
$$;


-- The forms

-- Claims the message that has waited for its notification for longest: due again after 5 minutes, then after twice the time
-- at each further attempt, up to 6 hours (DOC-53). No row where none is due. Called by `ContactMessages`.
create function claim_contact_message()
returns table (id uuid, kind text, name text, email text, message text, rating smallint, page text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
    select x.id from contact_messages x
    where x.notified_at is null and not x.spam and x.notify_after <= clock_timestamp()
    order by x.notify_after, x.id
    limit 1
    for update skip locked
  )
  update contact_messages m set
    notify_attempts = m.notify_attempts + 1,
    notify_after = clock_timestamp() + least(interval '5 minutes' * power(2, least(m.notify_attempts, 10)), interval '6 hours')
  from due
  where m.id = due.id
  returning m.id, m.kind, m.name, m.email, m.message, m.rating, m.page
$$;


-- Closing an account, erasing a person. Called by `Accounts`.

-- Closes an account, once: no row for one that is closed. Sign-ins, tokens, links and open invitations end with it, and the
-- name goes. The address stays, so that the free pages do not start anew and its reader can open the account again;
-- `erase_person` takes it as well.
create function close_account(p_customer_id uuid) returns table (email text, deleted_at timestamptz)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_email text;
  v_at timestamptz := clock_timestamp();
begin
  update customers c set deleted_at = v_at, name = null
  where c.id = p_customer_id and c.deleted_at is null
  returning c.email into v_email;
  if not found then return; end if;
  delete from sessions where customer_id = p_customer_id;
  delete from magic_links where customer_id = p_customer_id;
  update api_tokens set revoked_at = v_at where customer_id = p_customer_id and revoked_at is null;
  delete from team_invites where customer_id = p_customer_id and accepted_at is null;
  return query select v_email, v_at;
end
$$;

-- Erases a person: closes the account, and removes the address from everything but the audit trail of admins. Addresses
-- that must not be mailed stay so, by a hash (P3). Returns whether anything was found. `p_email`: bare and lower-case.
--
-- Lock order: erasures (`record_email_events` shares it, and `record_email_sends` for retries), mails of intake with customer and hold, queued retries, keys, rows of the log, suppressions, claims, admin, customer,
-- outreach. The log comes before the suppressions, as in the writers of events, which lock a row before they add its suppressions.
create function erase_person(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_hash bytea := address_hash(p_email);
  v_alias text := 'erased:' || encode(v_hash, 'hex');
  v_id uuid;
  v_found boolean;
  v_mails uuid[];
begin
  perform pg_advisory_xact_lock(email_key_lock('erase_person'));
  v_found := erase_intake_person(p_email);
  v_found := erase_deferred_person(p_email) or v_found;

  with hidden as (
    update email_log set
      to_addresses = array_replace(to_addresses, p_email, v_alias),
      other_addresses = array_replace(other_addresses, p_email, v_alias),
      dropped_addresses = array_replace(dropped_addresses, p_email, v_alias),
      error = error_without_person(error), attempts = attempts_without_person(attempts),
      suppression_marks = '{}', subject = null, raw = null, accounts = null, updated_at = now()
    where (to_addresses || other_addresses || dropped_addresses) @> array[p_email]
    returning id
  )
  select array_agg(id) into v_mails from hidden;
  v_found := v_found or v_mails is not null;
  -- By itself, since it has to see the events of transactions that held the rows.
  update email_events set raw = null, raw_bytes = 0 where send_id = any (v_mails);

  -- In one statement: one that comes between two would be deleted and not kept.
  with gone as (delete from email_suppressions where email = p_email returning reason)
  insert into erased_suppressions (address_hash, reason)
  select v_hash, reason from gone
  on conflict do nothing;
  v_found := v_found or found;

  update email_send_claims c set result = c.result || jsonb_build_object(
    'suppressedRecipients', (
      select coalesce(jsonb_agg(case x.value when to_jsonb(p_email) then to_jsonb(v_alias) else x.value end), '[]')
      from jsonb_array_elements(c.result -> 'suppressedRecipients') as x
    )
  ) || case when c.result ? 'error' then jsonb_build_object('error', error_without_person(c.result ->> 'error')) else '{}' end
  where c.key_hash in (select l.key_hash from email_log l where l.id = any (v_mails)) and c.result is not null;

  delete from admins where email = p_email;
  v_found := v_found or found;

  select c.id into v_id from customers c where c.email = p_email for update;
  if found then
    v_found := true;
    perform close_account(v_id);
    update customers set email = v_alias || ':' || v_id, name = null where id = v_id;
    delete from api_tokens where customer_id = v_id;
  end if;

  delete from file_shares where lower(email) = p_email;
  v_found := v_found or found;
  delete from team_invites where email = p_email;
  v_found := v_found or found;
  delete from contact_messages where lower(email) = p_email;
  v_found := v_found or found;
  delete from email_alerts a where a.due_at is not null and (
    a.details -> 'recipients' ? p_email
    or a.send_id = any (v_mails) and not exists (
      select from email_log l, unnest(l.to_addresses || l.other_addresses) as x(address)
      where l.id = a.send_id and x.address not like 'erased:%'
    )
  );
  update email_alerts a set details = a.details || '{"subject": null, "reason": null}'
  where a.due_at is not null and a.send_id = any (v_mails);

  v_found := erase_outreach_person(p_email) or v_found;
  if v_found then
    insert into admin_audit_log (action, actor, target) values ('person_erased', p_actor, v_alias);
  end if;
  return v_found;
end
$$;

-- The free pages of an erased person who comes back do not start anew (DOC-30).
create function recall_free_pages() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  select greatest(new.lifetime_free_pages_used, max(c.lifetime_free_pages_used)) into new.lifetime_free_pages_used
  from customers c
  where c.email like 'erased:' || encode(address_hash(new.email), 'hex') || ':%';
  return new;
end
$$;

-- Triggers fire by name: the address is in lower case before the pages are recalled by it.
create trigger customers_address before insert or update of email on customers
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

create trigger customers_recall_free_pages before insert on customers
for each row execute function recall_free_pages();


-- Customers, by the hands of admins. Called by `Customers`.

-- Registers a customer, or opens a closed account again: `added`, `reopened`, or `exists` where nothing was changed.
-- `p_email`: bare and lower-case.
create function add_customer(p_email text, p_name text, p_actor text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_answer text := 'added';
begin
  insert into customers (email, name) values (p_email, p_name) on conflict (email) do nothing;
  if not found then
    update customers set deleted_at = null, name = coalesce(p_name, name)
    where email = p_email and deleted_at is not null;
    if not found then return 'exists'; end if;
    v_answer := 'reopened';
  end if;
  insert into admin_audit_log (action, actor, target) values ('customer_' || v_answer, p_actor, p_email);
  return v_answer;
end
$$;

-- Gives credits, once for each reference of a customer: `granted`; `repeated` where the same was given before;
-- `reference_taken` where the reference stands for another number; `too_many`, `not_found`. The row lock of the customer
-- makes grants, charges and holds follow one another (DOC-33).
create function grant_credits(
  p_customer_id uuid, p_credits integer, p_reference text, p_actor text, p_note text
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_email text;
  v_balance bigint;
  v_known integer;
begin
  select c.email, coalesce(c.credits_remaining, 0) into v_email, v_balance
  from customers c where c.id = p_customer_id and c.deleted_at is null for no key update;
  if not found then return 'not_found'; end if;
  select g.credits into v_known from credit_grants g where g.customer_id = p_customer_id and g.reference = p_reference;
  if found then
    return case when v_known = p_credits then 'repeated' else 'reference_taken' end;
  end if;
  if v_balance + p_credits > 2147483647 then return 'too_many'; end if;
  insert into credit_grants (customer_id, credits, reference, actor)
  values (p_customer_id, p_credits, p_reference, p_actor);
  update customers set plan_type = 'paid', credits_remaining = v_balance + p_credits where id = p_customer_id;
  insert into admin_audit_log (action, actor, target, note, details)
  values ('credits_granted', p_actor, v_email, p_note, jsonb_build_object('credits', p_credits, 'reference', p_reference));
  return 'granted';
end
$$;

-- Takes credits back, once for each reference of a customer, as `grant_credits` gives them: `debited`, `repeated`,
-- `reference_taken`, `not_found`; `insufficient` where that would leave less than what is set aside for work under way.
create function debit_credits(
  p_customer_id uuid, p_credits integer, p_reference text, p_actor text, p_note text
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_email text;
  v_known integer;
begin
  select c.email into v_email from customers c where c.id = p_customer_id and c.deleted_at is null for no key update;
  if not found then return 'not_found'; end if;
  select g.credits into v_known from credit_grants g where g.customer_id = p_customer_id and g.reference = p_reference;
  if found then
    return case when v_known = -p_credits then 'repeated' else 'reference_taken' end;
  end if;
  if not exists (select from available_funds(p_customer_id) f where f.credits >= p_credits) then
    return 'insufficient';
  end if;
  insert into credit_grants (customer_id, credits, reference, actor)
  values (p_customer_id, -p_credits, p_reference, p_actor);
  update customers set credits_remaining = credits_remaining - p_credits where id = p_customer_id;
  insert into admin_audit_log (action, actor, target, note, details)
  values ('credits_debited', p_actor, v_email, p_note, jsonb_build_object('credits', p_credits, 'reference', p_reference));
  return 'debited';
end
$$;


-- Funds (DOC-30 to DOC-32, F1, F2). 1 credit a page; the free plan has 10 pages in a lifetime and no credits. Called by the
-- functions of conversions and intake in their own transactions, and `available_funds` by `Accounts` and `IntakeStore`.
--
-- Lock order: customer, hold. Every function locks the customer's row first, so that all of one customer's money moves one
-- after the other; not against the key locks of foreign keys (`for no key update`), or two inserts that each hold one and
-- then want the row would wait for each other.

-- What the customer could spend now: credits and free pages that no live hold sets aside, `p_but_for`'s left out.
create function available_funds(p_customer_id uuid, p_but_for uuid default null)
returns table (plan text, credits integer, free_pages integer)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select
    c.plan_type,
    case when c.plan_type = 'paid' then coalesce(c.credits_remaining, 0) - coalesce(h.credits, 0)::integer else 0 end,
    case when c.plan_type = 'free' then 10 - c.lifetime_free_pages_used - coalesce(h.free_pages, 0)::integer else 0 end
  from customers c
  left join lateral (
    select sum(x.credits) as credits, sum(x.free_pages) as free_pages
    from funds_holds x
    where x.customer_id = c.id and x.state = 'held' and x.expires_at > clock_timestamp()
      and x.job_id is distinct from p_but_for
  ) h on true
  where c.id = p_customer_id
$$;

-- Deducts credits atomically; raises where the credits that no hold sets aside do not suffice (DOC-30).
create function deduct_credits(p_customer_id uuid, p_amount integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_amount is null or p_amount < 0 then
    raise exception 'an amount of credits cannot be %', p_amount using errcode = 'invalid_parameter_value';
  end if;
  perform from customers where id = p_customer_id for no key update;
  if not exists (select from available_funds(p_customer_id) f where f.credits >= p_amount) then
    raise exception 'insufficient credits' using errcode = 'PL402';
  end if;
  update customers set credits_remaining = coalesce(credits_remaining, 0) - p_amount
  where id = p_customer_id and p_amount > 0;
end
$$;

-- Uses free pages atomically; raises where the lifetime limit (10) would be exceeded (DOC-30).
create function use_free_pages(p_customer_id uuid, p_pages integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_pages is null or p_pages < 0 then
    raise exception 'a number of pages cannot be %', p_pages using errcode = 'invalid_parameter_value';
  end if;
  perform from customers where id = p_customer_id for no key update;
  if not exists (select from available_funds(p_customer_id) f where f.free_pages >= p_pages) then
    raise exception 'the lifetime limit of free pages would be exceeded' using errcode = 'PL402';
  end if;
  update customers set lifetime_free_pages_used = lifetime_free_pages_used + p_pages
  where id = p_customer_id and p_pages > 0;
end
$$;

-- Sets funds for `p_pages` pages aside for the work `p_job_id`; false where they do not suffice, or were released before.
-- The same call again changes nothing.
create function place_hold(p_customer_id uuid, p_job_id uuid, p_pages integer, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f record;
  v_state text;
begin
  perform from customers where id = p_customer_id for no key update;
  select h.state into v_state from funds_holds h where h.job_id = p_job_id;
  if found then
    return v_state <> 'released';
  end if;
  select * into f from available_funds(p_customer_id);
  if not found or greatest(f.credits, f.free_pages) < p_pages then
    return false;
  end if;
  insert into funds_holds (job_id, customer_id, credits, free_pages, expires_at) values (
    p_job_id, p_customer_id, case when f.plan = 'paid' then p_pages else 0 end,
    case when f.plan = 'paid' then 0 else p_pages end, clock_timestamp() + p_window
  );
  return true;
end
$$;

-- In what `p_pages` pages of a hold can be paid, `credits` or `free_pages`: as the customer's plan has it now, else as they were set
-- aside under the plan before; null where neither suffices. What other live holds set aside is theirs.
create function hold_currency(h funds_holds, p_pages integer) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select x.currency
  from customers c
  cross join lateral (
    select coalesce(sum(o.credits), 0) as credits, coalesce(sum(o.free_pages), 0) as free_pages
    from funds_holds o
    where o.customer_id = c.id and o.state = 'held' and o.expires_at > clock_timestamp() and o.job_id <> h.job_id
  ) o
  cross join lateral (values
    ('credits', coalesce(c.credits_remaining, 0) - o.credits, c.plan_type = 'paid', h.credits > 0),
    ('free_pages', 10 - c.lifetime_free_pages_used - o.free_pages, c.plan_type = 'free', h.free_pages > 0)
  ) as x(currency, available, is_plan, is_held)
  where c.id = h.customer_id and (x.is_plan or x.is_held) and (p_pages = 0 or x.available >= p_pages)
  order by x.is_plan desc
  limit 1
$$;

-- Makes a hold last for `p_window` from now, shorter or longer than before. One that has expired is set aside anew; false
-- where the funds do not suffice any more, or there is no open hold. One that is set aside anew follows the plan.
create function refresh_hold(p_job_id uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_pages integer;
  v_currency text;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id and state = 'held';
  if not found then
    return false;
  end if;
  if h.expires_at <= clock_timestamp() then
    v_pages := greatest(h.credits, h.free_pages);
    v_currency := hold_currency(h, v_pages);
    if v_currency is null then
      return false;
    end if;
    update funds_holds set
      credits = case when v_currency = 'credits' then v_pages else 0 end,
      free_pages = case when v_currency = 'free_pages' then v_pages else 0 end
    where id = h.id;
  end if;
  update funds_holds set expires_at = clock_timestamp() + p_window where id = h.id;
  return true;
end
$$;

-- Makes an open hold large enough for `p_pages` (null: it is); false where the funds do not suffice. It never shrinks one,
-- and what is free of charge stays so. One that is made larger follows the plan.
create function widen_hold(p_job_id uuid, p_pages integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_currency text;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id and state = 'held';
  -- What is free of charge stays so.
  if not found or greatest(h.credits, h.free_pages) = 0 or coalesce(p_pages, 0) <= greatest(h.credits, h.free_pages) then
    return true;
  end if;
  v_currency := hold_currency(h, p_pages);
  if v_currency is null then
    return false;
  end if;
  update funds_holds set
    credits = case when v_currency = 'credits' then p_pages else 0 end,
    free_pages = case when v_currency = 'free_pages' then p_pages else 0 end
  where id = h.id;
  return true;
end
$$;

-- Releases what was set aside; true for the call that did it.
create function release_hold(p_job_id uuid, p_outcome text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  update funds_holds set state = 'released', outcome = p_outcome, closed_at = clock_timestamp()
  where job_id = p_job_id and state = 'held';
  return found;
end
$$;

-- Turns a hold into a charge, once. `p_pages` (null: as held) may be less than what was held, never more. Returns what
-- is true after it: `settled` (by this call or an earlier one), `released`, `insufficient` (the hold had expired and its
-- funds are spent, or the balance is below what was set aside) or `none`.
create function settle_hold(p_job_id uuid, p_pages integer default null) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_credits integer;
  v_free_pages integer;
  v_pages integer;
  v_currency text;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id;
  if not found then
    return 'none';
  end if;
  if h.state <> 'held' then
    return h.state;
  end if;
  v_credits := least(h.credits, coalesce(p_pages, h.credits));
  v_free_pages := least(h.free_pages, coalesce(p_pages, h.free_pages));
  if h.expires_at <= clock_timestamp() or not exists (
    select from customers c
    where c.id = h.customer_id and coalesce(c.credits_remaining, 0) >= v_credits and 10 - c.lifetime_free_pages_used >= v_free_pages
  ) then
    v_pages := greatest(v_credits, v_free_pages);
    v_currency := hold_currency(h, v_pages);
    if v_currency is null then
      return 'insufficient';
    end if;
    v_credits := case when v_currency = 'credits' then v_pages else 0 end;
    v_free_pages := case when v_currency = 'free_pages' then v_pages else 0 end;
  end if;
  update funds_holds set state = 'settled', outcome = 'completed', closed_at = clock_timestamp() where id = h.id;
  update customers set
    credits_remaining = case when v_credits > 0 then credits_remaining - v_credits else credits_remaining end,
    lifetime_free_pages_used = lifetime_free_pages_used + v_free_pages
  where id = h.customer_id;
  insert into credit_charges (job_id, customer_id, credits, free_pages)
  values (p_job_id, h.customer_id, v_credits, v_free_pages);
  return 'settled';
end
$$;

select secure_table(name) from unnest(array[
  'customers', 'admins', 'api_tokens', 'sessions', 'magic_links', 'promos', 'promo_claims', 'team_invites', 'contact_messages',
  'admin_audit_log', 'funds_holds', 'credit_charges', 'credit_grants'
]::regclass[]) as name;

select secure_function(name) from unnest(array[
  'are_rights(text[])',
  'use_api_token(bytea, boolean)',
  'use_session(bytea, bytea, boolean, integer, integer)',
  'claim_promo(text, boolean, text, bytea, integer)',
  'begin_sign_in(text, bytea, bytea, integer, integer)',
  'redeem_magic_link(bytea, bytea, bytea, integer)',
  'invite_admin(text, text[], text)',
  'remove_admin(text, text)',
  'purge_access()',
  'begin_team_invite(uuid, text, bytea, integer, integer)',
  'end_team_invite(bytea, boolean)',
  'accept_team_invite(bytea)',
  'claim_contact_message()',
  'close_account(uuid)',
  'erase_person(text, text)',
  'recall_free_pages()',
  'add_customer(text, text, text)',
  'grant_credits(uuid, integer, text, text, text)',
  'debit_credits(uuid, integer, text, text, text)',
  'available_funds(uuid, uuid)',
  'deduct_credits(uuid, integer)',
  'use_free_pages(uuid, integer)',
  'place_hold(uuid, uuid, integer, interval)',
  'hold_currency(funds_holds, integer)',
  'refresh_hold(uuid, interval)',
  'widen_hold(uuid, integer)',
  'release_hold(uuid, text)',
  'settle_hold(uuid, integer)'
]::regprocedure[]) as name;
