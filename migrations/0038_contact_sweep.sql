-- Messages of the forms whose notification did not go out are swept until it does.

alter table contact_messages
  -- When the next attempt is due; the first one is made when the message comes in.
  add column notify_after timestamptz not null default clock_timestamp() + interval '2 minutes',
  -- Attempts of the sweep, and what the newest attempt failed with.
  add column notify_attempts integer not null default 0,
  add column notify_error text;

create index contact_messages_waiting on contact_messages (notify_after) where notified_at is null and not spam;

-- Claims the message that waits for its notification for longest: due again after 5 minutes, then after twice the time at
-- each further attempt, up to 6 hours. No row where none is due.
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

select secure_function('claim_contact_message()');

-- When a webhook last brought an event of a provider, to the minute. The log's own rows do not say it: the poll writes events,
-- too, and would hide that the webhook is dead.
create table event_intakes (
  provider text primary key,
  heard_at timestamptz not null
);

-- Where webhooks brought events before, nobody is told of a silence at once.
insert into event_intakes (provider, heard_at)
select distinct l.provider, now() from email_log l where l.last_event is not null and l.provider is not null;

-- Notes that a webhook brought an event. Locks nothing where that was noted in the last minute.
create function note_event_intake(p_provider text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from event_intakes i where i.provider = p_provider and i.heard_at > clock_timestamp() - interval '1 minute'
  ) then
    insert into event_intakes as i (provider, heard_at) values (p_provider, clock_timestamp())
    on conflict (provider) do update set heard_at = excluded.heard_at where i.heard_at < excluded.heard_at;
  end if;
end
$$;

select secure_table('event_intakes');
select secure_function('note_event_intake(text)');
