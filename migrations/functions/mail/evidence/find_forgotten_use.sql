-- A use of a key that this database knows from events alone: it was restored from a backup since, or was away during the send. An event
-- `sent` carries the time at which the provider accepted the mail; for 24 hours from then (less ten minutes, since clocks differ) a call
-- on the key belongs to that use. No other event shows the use it belongs to: some arrive weeks later, and those of the poll have no
-- time of their own. `p_tag`: of the key's first use. A step of `begin_email_sends`.
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
