-- Calls over HTTP that their callers may repeat under an idempotency key, and the caller's own references.
-- Rules: docs/reference/specification/http.md (HTTP-16, HTTP-17).

create table request_keys (
  customer_id uuid not null references customers (id) on delete cascade,
  -- SHA-256 of the key.
  key_hash text not null,
  -- Of the route, its parameters and its JSON body.
  request_hash text not null,
  -- Of an uploaded file, which is known only once it was read.
  content_hash text,
  -- The ids of what the call makes follow from this one: an attempt that repeats it makes nothing twice.
  call_id uuid not null,
  -- The attempt under way, and until when it counts as alive.
  lease uuid not null,
  held_until timestamptz not null,
  attempts integer not null default 1,
  -- The first answer; null until there is one.
  answer jsonb,
  created_at timestamptz not null default clock_timestamp(),
  primary key (customer_id, key_hash)
);

create index request_keys_created on request_keys (created_at);

select secure_table('request_keys');

alter table files add column reference text check (length(reference) <= 200);
alter table bulk_orders add column reference text check (length(reference) <= 200);

create index files_reference on files (customer_id, reference)
where reference is not null and deleted_at is null;
create index bulk_orders_reference on bulk_orders (customer_id, reference) where reference is not null;
