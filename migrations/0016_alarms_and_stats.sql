-- Alarms of outbound mail, and what the statistics and the admin lists read.

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

-- What people are told of an alarm, once for each beginning and each end.
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

-- Moves an alarm from the state that its caller saw to the next and keeps the notice, if there is one to keep. False, and
-- nothing is done, where another caller moved it first. Times are milliseconds of the epoch.
create function change_email_alarm(
  p_name text,
  p_was_firing boolean,
  p_was_episode integer,
  p_was_calm_since float8,
  p_firing boolean,
  p_episode integer,
  p_calm_since float8,
  p_notice text,
  p_detail text
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into email_alarms (name, firing, episode, since, detail) values (p_name, false, 0, now(), '')
  on conflict (name) do nothing;
  update email_alarms a set
    firing = p_firing,
    episode = p_episode,
    calm_since = to_timestamp(p_calm_since / 1000),
    since = case when p_notice is null then a.since else clock_timestamp() end,
    detail = case when p_notice is null then a.detail else p_detail end
  where a.name = p_name
    and a.firing = p_was_firing
    and a.episode = p_was_episode
    and a.calm_since is not distinct from to_timestamp(p_was_calm_since / 1000);
  if not found then
    return false;
  end if;
  if p_notice is not null then
    insert into email_alarm_notices (alarm, episode, kind, detail) values (p_name, p_episode, p_notice, p_detail);
  end if;
  return true;
end
$$;

-- Claims the notice that is due for longest, for longer than it may take to send one. The end of an episode waits until
-- its beginning was told.
create function claim_email_alarm_notice()
returns table (alarm text, episode integer, kind text, detail text, at float8)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update email_alarm_notices n set due_at = clock_timestamp() + interval '3 minutes', attempts = n.attempts + 1
  from (
    select x.alarm, x.episode, x.kind from email_alarm_notices x
    where x.due_at <= clock_timestamp() and (
      x.kind = 'begun'
      or exists (
        select from email_alarm_notices b
        where b.alarm = x.alarm and b.episode = x.episode and b.kind = 'begun' and b.sent_at is not null)
    )
    order by x.due_at, x.created_at, x.kind
    limit 1
    for update skip locked
  ) as due
  where n.alarm = due.alarm and n.episode = due.episode and n.kind = due.kind
  returning n.alarm, n.episode, n.kind, n.detail, extract(epoch from n.created_at)::float8 * 1000
$$;

-- The newest-first index of the log now answers the statistics and the alarms by itself: what they count stands in it.
drop index email_log_created;
create index email_log_created on email_log (created_at desc, id desc)
  include (category, provider, status, failed_over, cost_usd);

create index email_suppressions_reason on email_suppressions (reason, created_at desc, email);

select secure_table('email_alarms');
select secure_table('email_alarm_notices');
select secure_function('change_email_alarm(text, boolean, integer, float8, boolean, integer, float8, text, text)');
select secure_function('claim_email_alarm_notice()');
