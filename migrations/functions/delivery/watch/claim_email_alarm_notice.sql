-- Claims the notice that has been due for longest, for longer than sending one may take. The end of an episode waits until
-- the notice of its beginning went out on some channel, and goes to the channels that have it (`goes_to`); to all once it is over.
create or replace function claim_email_alarm_notice()
returns table (alarm text, episode integer, kind text, detail text, at float8, taken text[], goes_to text[])
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
    select x.alarm, x.episode, x.kind, case when b.sent_at is null then b.taken end as goes_to
    from email_alarm_notices x
    left join email_alarm_notices b on x.kind = 'ended' and b.alarm = x.alarm and b.episode = x.episode and b.kind = 'begun'
    where x.due_at <= clock_timestamp() and (x.kind = 'begun' or b.sent_at is not null or cardinality(b.taken) > 0)
    order by x.due_at, x.created_at, x.kind
    limit 1
    for update of x skip locked
  )
  update email_alarm_notices n set due_at = clock_timestamp() + interval '3 minutes', attempts = n.attempts + 1
  from due
  where n.alarm = due.alarm and n.episode = due.episode and n.kind = due.kind
  returning n.alarm, n.episode, n.kind, n.detail, extract(epoch from n.created_at)::float8 * 1000, n.taken, due.goes_to
$$;
