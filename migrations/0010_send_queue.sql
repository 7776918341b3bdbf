-- The send queue: mail that is committed with its caller's own transaction, and sent afterwards at the pace that its provider takes.
-- Rules: docs/reference/specification/outbound-mail.md (QUEUE-1 …).

create table email_send_queue (
  -- Also the id of the request's row in the log.
  id uuid primary key default gen_random_uuid(),
  idempotency_key text not null,
  -- SHA-256 hex of the key.
  key_hash text not null,
  -- The hash again, for as long as a request with this key is this request; null where the caller chose no key, or the key is free again.
  held_key text,
  -- Equal for two requests that ask for the same mail.
  request_hash text not null,
  category text not null,
  -- Categories go in this order.
  lane smallint not null,
  -- Where the next attempt goes first; empty for the primary provider.
  provider text not null default '',
  send_at timestamptz not null,
  expires_at timestamptz,
  state text not null default 'queued'
    check (state in ('queued', 'sending', 'deferred', 'sent', 'suppressed', 'failed', 'cancelled')),
  -- When the request is taken next: of one under way, when its sender counts as dead. Null once it has ended.
  due_at timestamptz check ((due_at is null) = (ended_at is not null)),
  -- Of the sender that has taken it; also the owner of its claim on the key.
  lease uuid check (lease is null or state = 'sending'),
  -- Requests to providers so far.
  attempts integer not null default 0,
  -- Refusals in a row that prove that nothing was accepted.
  refusals integer not null default 0,
  -- Senders that died with it, as far as is known.
  deaths smallint not null default 0,
  -- Of the sender before, which counts as dead until it is heard of.
  passed_lease uuid,
  -- Its age counts from here or from `send_at`, whichever is later.
  first_taken_at timestamptz,
  -- The mail. Null once it has ended.
  request jsonb check ((request is null) = (ended_at is not null)),
  -- The exact request of an ambiguous attempt, which its retries repeat (`DeferredSend` in the domain).
  deferral text,
  -- All attempts, each an `Attempt` of the domain.
  tried jsonb,
  error text,
  -- As the direct send answers it.
  result jsonb,
  ended_at timestamptz,
  -- When the row was written: the transaction may have begun long before.
  created_at timestamptz not null default clock_timestamp()
) with (fillfactor = 80);

create unique index email_send_queue_key on email_send_queue (held_key) where held_key is not null;
create index email_send_queue_due on email_send_queue (provider, lane, due_at) where due_at is not null;
create index email_send_queue_ended on email_send_queue (ended_at) where ended_at is not null;

-- What is paused: a category, or `*` for all of them.
create table email_queue_pauses (
  scope text primary key,
  actor text not null,
  paused_at timestamptz not null default now()
);

-- How fast each provider is asked, over all processes: evenly spaced tokens.
create table email_pace (
  provider text primary key,
  -- The next token.
  free_at timestamptz not null,
  -- The next token that is the queue's whatever direct sends take: one in four.
  reserved_at timestamptz not null,
  -- The provider said that it takes nothing before.
  held_until timestamptz,
  -- Requests a second, as the provider said.
  rate float8,
  -- Tokens that the queue has taken.
  taken bigint not null default 0
) with (fillfactor = 50);

select secure_table(name) from unnest(array['email_send_queue', 'email_queue_pauses', 'email_pace']::regclass[]) as name;

-- The role of a caller's application: it may queue and cancel mail, and nothing else.
do $$
begin
  if not exists (select from pg_roles where rolname = 'postlane_enqueue') then
    begin
      create role postlane_enqueue nologin;
    exception
      when duplicate_object or unique_violation then null; -- Another database of this server made it at the same time.
      when insufficient_privilege then
        raise notice 'the role postlane_enqueue is missing: a role that may create roles can add it (create role postlane_enqueue nologin), then migrate again';
    end;
  end if;
  if exists (select from pg_roles where rolname = 'postlane_enqueue') then
    grant usage on schema public to postlane_enqueue;
  end if;
end
$$;
