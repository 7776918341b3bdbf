-- What document 1's callers keep: messages of the contact and feedback forms, team invitations; closing an account, and
-- erasing a person (invariant P3).

create table contact_messages (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('contact', 'feedback')),
  name text,
  -- As it was written; feedback may have none.
  email text,
  message text not null,
  rating smallint check (rating between 1 and 5),
  page text,
  -- A robot filled in the field that people do not see: kept, but nobody is told.
  spam boolean not null default false,
  -- When its mail went out; null while nobody was told.
  notified_at timestamptz,
  created_at timestamptz not null default now(),
  check (kind = 'feedback' or (name is not null and email is not null))
);

create index contact_messages_created on contact_messages (created_at desc, id desc);
create index contact_messages_email on contact_messages (lower(email));

select secure_table('contact_messages');

-- One open invitation of an address a team. The token is stored as its hash only.
create table team_invites (
  id uuid primary key default gen_random_uuid(),
  -- Whose team it is.
  customer_id uuid not null references customers (id) on delete cascade,
  -- Bare and lower-case.
  email text not null check (email = lower(email collate "C") and email <> ''),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Somebody is sending the mail until then; a crash frees it.
  sending_until timestamptz,
  sent_at timestamptz,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_at timestamptz not null default now()
);

create unique index team_invites_open on team_invites (customer_id, email) where accepted_at is null;
create index team_invites_email on team_invites (email);

select secure_table('team_invites');

-- An invitation, new or the open one of this address, and what is to be done about its mail:
--   Send  the caller holds the sending for `p_lease_seconds`, and this token's hash is the one that counts
--   Sent  its mail went out before, and the link in it still works
--   Busy  another call is sending it
-- No row for a customer who is gone.
create function begin_team_invite(
  p_customer_id uuid, p_email text, p_token_hash bytea, p_lifetime_seconds integer, p_lease_seconds integer
)
returns table (invite_id uuid, todo text, inviter text, expires_at timestamptz)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_inviter text;
  v_invite team_invites;
  v_todo text := 'Send';
begin
  -- For share: a deletion of the account waits, or this waits for it.
  select coalesce(c.name, c.email) into v_inviter
  from customers c where c.id = p_customer_id and c.deleted_at is null for share;
  if not found then return; end if;
  loop
    insert into team_invites as i (customer_id, email, token_hash, expires_at, sending_until)
    values (
      p_customer_id, p_email, p_token_hash, clock_timestamp() + make_interval(secs => p_lifetime_seconds),
      clock_timestamp() + make_interval(secs => p_lease_seconds)
    )
    on conflict (customer_id, email) where accepted_at is null do update
    set token_hash = excluded.token_hash, expires_at = excluded.expires_at, sending_until = excluded.sending_until,
      sent_at = null
    where (i.sent_at is null or i.expires_at <= clock_timestamp())
      and (i.sending_until is null or i.sending_until <= clock_timestamp())
    returning * into v_invite;
    exit when found;
    select * into v_invite from team_invites i
    where i.customer_id = p_customer_id and i.email = p_email and i.accepted_at is null;
    continue when not found; -- Accepted or withdrawn since.
    v_todo := case when v_invite.sent_at is null then 'Busy' else 'Sent' end;
    exit;
  end loop;
  return query select v_invite.id, v_todo, v_inviter, v_invite.expires_at;
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

-- Addresses of erased people that still must not be mailed (P3). SHA-256 of the address: it can be recognised, not read.
create table erased_suppressions (
  address_hash bytea not null check (octet_length(address_hash) = 32),
  reason text not null check (reason in ('hard_bounce', 'complaint', 'manual')),
  created_at timestamptz not null default now(),
  primary key (address_hash, reason)
);

select secure_table('erased_suppressions');

create function address_hash(p_email text) returns bytea
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select sha256(convert_to(p_email, 'UTF8'))
$$;

-- Suppressions of these addresses, those of erased people among them, as JSON: [{ "email", "reason" }].
create or replace function email_suppressions_of(p_addresses text[]) returns jsonb
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object('email', s.email, 'reason', s.reason)), '[]')
  from (
    select x.email, x.reason from email_suppressions x where x.email = any (p_addresses)
    union
    select a.email, e.reason
    from unnest(p_addresses) as a(email) join erased_suppressions e on e.address_hash = address_hash(a.email)
  ) as s
$$;

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

-- Erases a person: closes the account, and takes the address from everywhere but the audit trail of admins. What must not
-- be mailed stays so, by a hash. Answers whether anything was found. `p_email`: bare and lower-case.
create function erase_person(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_hash bytea := address_hash(p_email);
  v_alias text := 'erased:' || encode(v_hash, 'hex');
  v_id uuid;
  v_found boolean;
begin
  insert into erased_suppressions (address_hash, reason)
  select v_hash, s.reason from email_suppressions s where s.email = p_email
  on conflict do nothing;
  v_found := found;
  delete from email_suppressions where email = p_email;

  select c.id into v_id from customers c where c.email = p_email for update;
  if found then
    v_found := true;
    perform close_account(v_id);
    update customers set email = v_alias || ':' || v_id, name = null where id = v_id;
    delete from api_tokens where customer_id = v_id;
  end if;

  delete from team_invites where email = p_email;
  v_found := v_found or found;
  delete from contact_messages where lower(email) = p_email;
  v_found := v_found or found;
  delete from email_alerts where due_at is not null and details -> 'recipients' ? p_email;
  update email_log set
    to_addresses = array_replace(to_addresses, p_email, v_alias),
    other_addresses = array_replace(other_addresses, p_email, v_alias),
    suppression_marks = '{}', subject = null, raw = null, updated_at = now()
  where to_addresses @> array[p_email] or other_addresses @> array[p_email];
  v_found := v_found or found;

  v_found := erase_outreach_person(p_email) or v_found;
  if v_found then
    insert into admin_audit_log (action, actor, target) values ('person_erased', p_actor, v_alias);
  end if;
  return v_found;
end
$$;

-- The free pages of an erased person who comes back do not start anew.
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

create index customers_erased on customers (email text_pattern_ops) where email like 'erased:%';
create trigger customers_recall_free_pages before insert on customers
for each row execute function recall_free_pages();

select secure_function('begin_team_invite(uuid, text, bytea, integer, integer)');
select secure_function('end_team_invite(bytea, boolean)');
select secure_function('accept_team_invite(bytea)');
select secure_function('address_hash(text)');
select secure_function('email_suppressions_of(text[])');
select secure_function('close_account(uuid)');
select secure_function('erase_person(text, text)');
select secure_function('recall_free_pages()');
