-- Claims the notice that has been due for longest, for longer than sending one may take. The end of an episode waits until
-- the notice of its beginning went out.
create or replace function claim_email_alarm_notice()
returns table (alarm text, episode integer, kind text, detail text, at float8)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
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
  )
  update email_alarm_notices n set due_at = clock_timestamp() + interval '3 minutes', attempts = n.attempts + 1
  from due
  where n.alarm = due.alarm and n.episode = due.episode and n.kind = due.kind
  returning n.alarm, n.episode, n.kind, n.detail, extract(epoch from n.created_at)::float8 * 1000
$$;
