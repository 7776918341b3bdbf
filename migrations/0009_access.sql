-- Customers, and who may call: tokens, sessions, magic links (document 2, "customers"; contract, "Admin", "Files and
-- conversions"). No secret is stored: of each there is the SHA-256 hash of 32 random bytes, which needs no salt.

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
  -- When the account was deleted. The row stays, so that the free pages do not start anew; tokens and sessions end with it.
  deleted_at timestamptz
);

select secure_table('customers');

-- Whether these are rights, and at least one. Equals `Right`.
create function are_rights(p_rights text[]) returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select p_rights <@ array['admin', 'admin:read', 'owner'] and cardinality(p_rights) > 0
$$;

create table api_tokens (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- The actor in audit rows.
  name text not null check (name <> ''),
  rights text[] not null check (are_rights(rights)),
  customer_id uuid references customers (id) on delete cascade,
  -- A dev token: good for a process that runs embedded, whatever the database is used for later.
  embedded boolean not null default false,
  created_at timestamptz not null default now(),
  -- To the minute.
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  check (customer_id is not null or not 'owner' = any (rights))
);

create index api_tokens_customer on api_tokens (customer_id);

select secure_table('api_tokens');

-- A session has up to three hashes: the current one, the next one once it was handed out and until it is first used, and
-- the one before for a short grace. So neither two tabs nor a lost answer log anybody out.
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
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  rotated_at timestamptz not null default now(),
  check (customer_id is not null or not 'owner' = any (rights))
);

create index sessions_customer on sessions (customer_id);
create index sessions_api_token on sessions (api_token_id);
create index sessions_expiry on sessions (expires_at);

select secure_table('sessions');

create table magic_links (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  customer_id uuid not null references customers (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create index magic_links_customer on magic_links (customer_id);
create index magic_links_expiry on magic_links (expires_at);

select secure_table('magic_links');

-- The promotions that can be claimed. Add one by hand: insert into promos (name) values ('launch').
create table promos (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  created_at timestamptz not null default now(),
  -- From then on it is unknown to callers.
  ends_at timestamptz
);

select secure_table('promos');

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

select secure_table('promo_claims');

-- Whom a bearer token stands for; no row for one that is unknown, revoked or expired, or whose customer is deleted.
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

-- Whom a session's cookie stands for, by any of its hashes that holds; no row for a cookie that stands for nobody.
-- `renewed`: `p_next_hash` was kept, hand its cookie out. Equals `presentCookie`.
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

-- A claim of a promotion: the customer, made on the first claim, and a magic link for it. No row for a promotion that is
-- unknown or over. `p_any_promo`: one that nobody listed counts as running (embedded runs).
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

-- Uses a magic link up and begins a session; no row for a link that is unknown, used or too old. Whoever reads the mail of
-- a deleted account may open it again.
create function redeem_magic_link(p_link_hash bytea, p_session_hash bytea, p_lifetime_seconds integer)
returns table (customer_id uuid, actor text, expires_at timestamptz)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_customer customers;
  v_expires_at timestamptz := now() + make_interval(secs => p_lifetime_seconds);
begin
  update magic_links set used_at = now()
  where token_hash = p_link_hash and used_at is null and expires_at > now()
  returning customer_id into v_customer.id;
  if not found then return; end if;
  update customers set deleted_at = null where id = v_customer.id returning * into strict v_customer;
  insert into sessions (token_hash, actor, rights, customer_id, expires_at)
  values (p_session_hash, v_customer.email, array['owner'], v_customer.id, v_expires_at);
  return query select v_customer.id, v_customer.email, v_expires_at;
end
$$;

-- Forgets what is over: links after a day, sessions at their end.
create function purge_access() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from magic_links where expires_at < now() - interval '1 day';
  delete from sessions where expires_at < now();
$$;

select secure_function('are_rights(text[])');
select secure_function('use_api_token(bytea, boolean)');
select secure_function('use_session(bytea, bytea, boolean, integer, integer)');
select secure_function('claim_promo(text, boolean, text, bytea, integer)');
select secure_function('redeem_magic_link(bytea, bytea, integer)');
select secure_function('purge_access()');
