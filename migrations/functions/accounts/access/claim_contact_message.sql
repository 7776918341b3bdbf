-- Claims the message that has waited for its notification for longest: due again after 5 minutes, then after twice the time
-- at each further attempt, up to 6 hours (DOC-53). No row where none is due. Called by `ContactMessages`.
create or replace function claim_contact_message()
returns table (id uuid, kind text, name text, email text, message text, rating smallint, page text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with due as materialized (
    select x.id from contact_messages x
    where x.notified_at is null and not x.spam and x.notify_after <= (select clock_timestamp())
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
