-- Tokens of programs that send: over SMTP, over Resend's API and over the relay.
-- Rules: docs/reference/specification/programs-in-front.md (FRONT-1).

create table sender_tokens (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Shown in audit rows and in the source of its mails.
  name text not null check (name <> ''),
  -- What it may send, and from whom: an address or `@domain`, in lower case. Empty: any.
  categories text[] not null default '{}',
  from_addresses text[] not null default '{}',
  -- Mails a minute; null for any number.
  rate_per_minute integer check (rate_per_minute > 0),
  created_at timestamptz not null default now(),
  -- To the minute.
  last_used_at timestamptz,
  revoked_at timestamptz
);

select secure_table('sender_tokens');
