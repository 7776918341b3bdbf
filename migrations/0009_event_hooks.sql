-- Event hooks: what became of a mail, a suppression or a document, posted to systems of the user (Standard Webhooks).
-- Rules: docs/reference/specification/delivery.md, "Event hooks".

create table event_hooks (
  id uuid primary key default gen_random_uuid(),
  url text not null check (url <> ''),
  -- `email.bounced`, `email.*` or `*`.
  types text[] not null default '{*}',
  -- Null while it is on. `itself`: it was switched off after five days without a receipt, and its events are written `dead`. By a person,
  -- or by the settings where these name no hook any more: nothing is written for it.
  off_by text check (off_by in ('person', 'itself', 'settings')),
  -- `whsec_` and base64. Readable, since every request is signed with it; shown once, when it is made.
  secret text not null check (secret like 'whsec\_%'),
  -- Signs, too, until the rotation is over.
  old_secret text check (old_secret like 'whsec\_%'),
  old_secret_until timestamptz,
  -- The hook of `EVENT_HOOK_URL`: one row at most, which the processes keep as their settings are.
  from_settings boolean not null default false,
  -- The first failed try since the last receipt, and the latest one.
  failing_since timestamptz,
  failed_at timestamptz,
  received_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint event_hooks_rotation check ((old_secret is null) = (old_secret_until is null))
);

create unique index event_hooks_of_settings on event_hooks (from_settings) where from_settings;

create sequence event_hook_sequence;

-- One row for each event and hook that asks for it.
create table event_hook_deliveries (
  id uuid primary key default gen_random_uuid(),
  -- The order of the events of one subject; taken under the subject's lock.
  sequence bigint not null default nextval('event_hook_sequence'),
  hook_id uuid not null references event_hooks (id) on delete cascade,
  -- `webhook-id`: the same for every hook and try.
  message_id text not null,
  type text not null,
  -- What the event is about: events of one subject are sent one after the other.
  subject text not null,
  -- JSON, sent and signed byte for byte.
  body text not null,
  -- `email_log.id` of a mail that only delivery events knew when this was written: the library's row completes the body.
  early_send_id uuid,
  -- Not tried before then: the library may still write its row.
  wait_until timestamptz,
  state text not null check (state in ('pending', 'delivered', 'dead')),
  -- Tries since it was written or redelivered.
  tries integer not null default 0,
  -- Redelivered after a try: waits for no other event of its subject, and holds none back.
  again boolean not null default false,
  -- When it is due; while it is being tried, the end of the lease. Null once it has ended.
  next_at timestamptz,
  -- The try that is under way.
  lease uuid,
  tried_at timestamptz,
  ended_at timestamptz,
  -- The last answer: its status and the beginning of its body, or why there was none.
  answer_status integer,
  answer text,
  error text,
  created_at timestamptz not null default now(),
  constraint event_hook_deliveries_due check ((state = 'pending') = (next_at is not null) and (state = 'pending') = (ended_at is null))
);

create index event_hook_deliveries_due on event_hook_deliveries (hook_id, next_at, sequence) where state = 'pending';
create index event_hook_deliveries_order on event_hook_deliveries (hook_id, subject, sequence) where state = 'pending' and not again;
create index event_hook_deliveries_newest on event_hook_deliveries (hook_id, created_at desc, id desc);
create index event_hook_deliveries_early on event_hook_deliveries (early_send_id) where early_send_id is not null and state = 'pending';
create index event_hook_deliveries_dead on event_hook_deliveries (ended_at) where state = 'dead';
create index event_hook_deliveries_ended on event_hook_deliveries (ended_at) where state <> 'pending';

-- An event to tell: an entry of `write_hook_deliveries`.
create type hook_event as (
  type text,
  subject text,
  occurred_at timestamptz,
  data jsonb,
  early_send_id uuid,
  wait_until timestamptz
);

create trigger email_suppressions_told_added after insert on email_suppressions
referencing new table as changed for each statement execute function tell_hooks_of_suppressions();

create trigger email_suppressions_told_removed after delete on email_suppressions
referencing old table as changed for each statement execute function tell_hooks_of_suppressions();

create trigger unsubscribes_told_added after insert on unsubscribes
referencing new table as changed for each statement execute function tell_hooks_of_suppressions();

create trigger unsubscribes_told_removed after delete on unsubscribes
referencing old table as changed for each statement execute function tell_hooks_of_suppressions();

create trigger large_conversion_jobs_told after update of status on large_conversion_jobs
for each row when (new.status <> old.status and new.status in ('completed', 'failed', 'cancelled'))
execute function tell_hooks_of_conversion();

-- Word documents and pictures have no job.
create trigger files_told after update of status on files
for each row when (old.status = 'processing' and new.status in ('completed', 'failed'))
execute function tell_hooks_of_conversion();

create trigger flyer_jobs_told after update of status on flyer_jobs
for each row when (new.status <> old.status and new.status in ('completed', 'failed'))
execute function tell_hooks_of_conversion();

select secure_table(name) from unnest(array['event_hooks', 'event_hook_deliveries']::regclass[]) as name;

do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant all on sequence event_hook_sequence to service_role;
  end if;
end
$$;
