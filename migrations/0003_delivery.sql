-- Delivery: events of the providers, alerts about them, the poll, alarms, and the audit digest.
-- Rules: docs/reference/specification/delivery.md.

-- When a webhook last brought an event of a provider, to the minute (EVENT-40). The log's own rows do not show it:
-- the poll writes events, too, and would hide that the webhook is dead.
create table event_intakes (
  provider text primary key,
  heard_at timestamptz not null
);

-- One row for each alert that was claimed (EVENT-20, EVENT-23). `email_log.alerted_at` says that the alert is claimed; a row
-- of the log that has it and none here kept its claim as a backfill and counts as settled.
create table email_alerts (
  -- `email_log.id`.
  send_id uuid primary key,
  -- When the alert is raised again unless it is confirmed before: the end of a claim's lease, or of the wait after a
  -- release. Null once it is confirmed.
  due_at timestamptz,
  -- How often it was claimed.
  attempts integer not null default 1,
  claimed_at timestamptz not null default now(),
  confirmed_at timestamptz,
  -- What the alert says (the body of `POST /internal/email-alert` without `sendId`, EVENT-25); empty once it is confirmed,
  -- so that no address stays here.
  details jsonb not null,
  constraint email_alerts_confirmed check ((due_at is null) = (confirmed_at is not null))
);

create index email_alerts_due on email_alerts (due_at) where due_at is not null;

-- The events of a mail as they came (EVENT-15), numbered by arrival. Written and deleted under the lock of the mail's log row,
-- which makes a foreign key unnecessary.
create table email_events (
  -- `email_log.id`.
  send_id uuid not null,
  number integer not null,
  event text not null,
  -- When it arrived, where the event has no time.
  occurred_at timestamptz not null,
  -- The poll found it in the provider's list.
  listed boolean not null,
  -- Null also where it is too large, or its recipient was erased.
  raw jsonb,
  raw_bytes integer not null,
  primary key (send_id, number)
);

-- An event as the functions that record it see it: an entry of `record_email_events`, in SQL's types.
create type delivery_event as (
  ordinal integer,
  provider text,
  provider_message_id text,
  event text,
  -- Rank of the status that the event brings (`email_status_rank`); null where it brings none.
  rank integer,
  occurred_at timestamptz,
  recipients text[],
  subject text,
  from_address text,
  reason text,
  raw jsonb,
  key_tag text,
  -- The reason for which it suppresses, if it does.
  suppression text,
  suppress text[],
  alertable boolean,
  backfill boolean,
  category text,
  listed boolean
);

-- Which alerts admins want, and where (EVENT-21); a row that is missing counts as on.
create table admin_notification_preferences (
  alert_type text not null check (alert_type <> ''),
  channel text not null check (channel in ('email', 'chat')),
  enabled boolean not null default true,
  updated_at timestamptz not null default now(),
  primary key (alert_type, channel)
);

insert into admin_notification_preferences (alert_type, channel)
values ('email_delivery_failure', 'email'), ('email_delivery_failure', 'chat');

-- How far the poll of provider_a's list has come (EVENT-30): what it read last, and what one run had no pages left for.
create table event_poll_positions (
  provider text primary key,
  newest_id text,
  newest_at timestamptz,
  -- Mails older than `gap_after`, down to `gap_until`, are not read yet. No `gap_until`: down to the end of the list.
  gap_after text,
  gap_until_id text,
  gap_until_at timestamptz,
  -- Rises with every change: of two runs at once, the one that saves second changes nothing.
  version bigint not null,
  updated_at timestamptz not null default now()
);

-- Alarms of outbound mail (EVENT-40).
create table email_alarms (
  name text primary key,
  firing boolean not null,
  -- Counts how often it began.
  episode integer not null,
  -- Since when it has been calm, while it fires.
  calm_since timestamptz,
  -- When it last began or ended, and the figures of that moment.
  since timestamptz not null,
  detail text not null
);

-- How far the clocks of processes are off this database's, noted each minute by those that are off by more than a minute.
create table clock_differences (
  process text primary key,
  -- The process's clock minus the database's.
  difference_ms float8 not null,
  noted_at timestamptz not null
);

-- One row that every readiness check of a process writes.
create table readiness_checks (
  process text primary key,
  written_at timestamptz not null
);

-- The notices of an alarm, one for each beginning and each end (EVENT-41).
create table email_alarm_notices (
  alarm text not null,
  episode integer not null,
  kind text not null check (kind in ('begun', 'ended')),
  detail text not null,
  created_at timestamptz not null default now(),
  -- When it may be claimed; null once it went out.
  due_at timestamptz default now(),
  attempts integer not null default 0,
  sent_at timestamptz,
  primary key (alarm, episode, kind),
  constraint email_alarm_notices_sent check ((due_at is null) = (sent_at is not null))
);

create index email_alarm_notices_due on email_alarm_notices (due_at) where due_at is not null;

-- Subscribers of the audit digest (EVENT-50).
create table audit_digest_subscriptions (
  id uuid primary key default gen_random_uuid(),
  email text not null check (email <> ''),
  cadence text not null default 'daily' check (cadence in ('daily', 'weekly')),
  -- Null: the digest of the whole service, for admins. Else what concerns this customer and mail to this address, no more.
  customer_id uuid,
  active boolean not null default true,
  created_at timestamptz not null default now()
);

create index audit_digest_subscriptions_due on audit_digest_subscriptions (cadence, id) where active;

-- One row a subscription and period: the claim that keeps a digest from going out twice.
create table audit_digest_deliveries (
  subscription_id uuid not null references audit_digest_subscriptions (id) on delete cascade,
  cadence text not null check (cadence in ('daily', 'weekly')),
  period_start timestamptz not null,
  state text not null check (state in ('claimed', 'sent', 'suppressed', 'failed')),
  -- The run that works on it, or did last.
  owner text not null,
  lease_until timestamptz not null,
  claimed_at timestamptz not null,
  attempts integer not null default 1,
  -- The first attempt with an unknown end; null where each attempt has ended without a mail.
  uncertain_since timestamptz,
  -- The mail, byte for byte, kept while an attempt at it may have been accepted: a retry on the same key needs the same payload.
  request jsonb,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (subscription_id, cadence, period_start)
);

-- Where pg_cron, pg_net and a vault are available, and by hand once they are: `select schedule_functions()`.
do $$
begin
  perform schedule_functions();
exception
  when insufficient_privilege then
    raise notice 'poll and digests could not be scheduled: run select schedule_functions() as a role that may';
end
$$;

-- What `email_log` counts, by day (UTC) that is over (EVENT-65): so that a year is read in milliseconds however many rows it
-- has. Where the day is among `email_stats_closed`; other days are counted from the log.
create table email_stats_days (
  day date not null,
  category text not null,
  provider text,
  status text not null,
  count bigint not null,
  failed_over bigint not null,
  undelivered bigint not null,
  cost_usd numeric not null,
  unique nulls not distinct (day, category, provider, status)
);

create table email_stats_closed (day date primary key);

-- What has changed since of days that are over, such as a bounce that came late: added to the day by its readers, and
-- folded into it by the leader. Rows are only ever added and taken out, so that no two events wait for each other here.
create table email_stats_changes (
  day date not null,
  category text not null,
  provider text,
  status text not null,
  count integer not null,
  failed_over integer not null,
  undelivered integer not null,
  cost_usd numeric not null
);

-- Today's rows, which are nearly all that sends and events write, pass them by.
create trigger email_log_counted_insert after insert on email_log
for each row when (new.created_at < date_trunc('day', now(), 'UTC')) execute function email_log_counted();

-- Kept short, since every statement parses the condition again: a row comparison here took a tenth of recording an event.
create trigger email_log_counted_update after update on email_log
for each row when (least(old.created_at, new.created_at) < date_trunc('day', now(), 'UTC'))
execute function email_log_counted();

-- Rows that have been kept for as long as they should stay in the statistics.
create trigger email_log_counted_delete after delete on email_log
for each row when (
  old.created_at < date_trunc('day', now(), 'UTC') and current_setting('postlane.pruning', true) is distinct from 'on'
)
execute function email_log_counted();

select secure_table(name) from unnest(array[
  'clock_differences', 'readiness_checks',
  'event_intakes', 'email_alerts', 'email_events', 'admin_notification_preferences', 'event_poll_positions', 'email_alarms',
  'email_alarm_notices', 'audit_digest_subscriptions', 'audit_digest_deliveries', 'email_stats_days', 'email_stats_closed',
  'email_stats_changes'
]::regclass[]) as name;
