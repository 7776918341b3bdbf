-- A use of a key that this database knows only by events: it was restored from a backup since, or was away at the send. The event `sent`
-- has the time at which the provider accepted the mail. Within 24 hours of it (less ten minutes, for clocks that differ) a call on the key
-- belongs to the same use. Other events come for weeks, and those of the poll have no time of their own: they do not show which use
-- they belong to. `p_tag`: of the key's first use. A step of `begin_email_sends`.
create or replace function find_forgotten_use(p_tag text) returns table (provider text, at timestamptz)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  -- Apart, so that the index of the tag serves it, whatever the statistics say.
  with tagged as materialized (
    select l.id, l.provider from email_log l
    where l.key_tag = p_tag and l.outcome is distinct from 'sent' and l.key_hash is null
  )
  select t.provider, x.occurred_at
  from tagged t join email_events x on x.send_id = t.id
  where x.event = 'sent' and not x.listed and x.occurred_at > clock_timestamp() - interval '23 hours 50 minutes'
  order by x.occurred_at desc
  limit 1
$$;
