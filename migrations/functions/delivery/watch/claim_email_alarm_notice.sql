-- Claims the notice that has been due for longest, for longer than sending one may take. The notices of an alarm go out in their order:
-- each waits until the one before it went out on some channel, and goes to the channels that have that one (`goes_to`); to all once it is over.
create or replace function claim_email_alarm_notice()
returns table (alarm text, episode integer, kind text, detail text, at float8, taken text[], goes_to text[])
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
    select x.alarm, x.episode, x.kind, b.taken as goes_to
    from email_alarm_notices x
    left join lateral (
      select y.taken from email_alarm_notices y
      where y.due_at is not null and y.alarm = x.alarm and (y.episode, y.kind) < (x.episode, x.kind)
      order by y.episode desc, y.kind desc
      limit 1
    ) as b on true
    where x.due_at <= clock_timestamp() and (b.taken is null or cardinality(b.taken) > 0)
    order by x.due_at, x.created_at, x.kind
    limit 1
    for update of x skip locked
  )
  update email_alarm_notices n set due_at = clock_timestamp() + interval '3 minutes', attempts = n.attempts + 1
  from due
  where n.alarm = due.alarm and n.episode = due.episode and n.kind = due.kind
  returning n.alarm, n.episode, n.kind, n.detail, extract(epoch from n.created_at)::float8 * 1000, n.taken, due.goes_to
$$;
