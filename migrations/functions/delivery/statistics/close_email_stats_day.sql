-- Folds changes into days that are closed, and closes the newest that is over and is not: its rows are counted and the changes
-- that they hold are dropped in one statement, so that both are seen or neither. A day is closed an hour after it is over,
-- since a transaction that began before midnight may still write it. Returns how many days it closed (0 or 1). Called by the leader,
-- which calls again while there is one.
create or replace function close_email_stats_day() returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_day date;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('close_email_stats_day', 0)) then
    return 0;
  end if;
  with gone as (
    delete from email_stats_changes where ctid = any (array(
      select c.ctid from email_stats_changes c join email_stats_closed d on d.day = c.day limit 10000
    ))
    returning *
  )
  insert into email_stats_days as s (day, category, provider, status, count, failed_over, undelivered, cost_usd)
  select g.day, g.category, g.provider, g.status, sum(g.count), sum(g.failed_over), sum(g.undelivered), sum(g.cost_usd)
  from gone g
  group by 1, 2, 3, 4
  having sum(g.count) <> 0 or sum(g.failed_over) <> 0 or sum(g.undelivered) <> 0 or sum(g.cost_usd) <> 0
  on conflict (day, category, provider, status) do update set
    count = s.count + excluded.count, failed_over = s.failed_over + excluded.failed_over,
    undelivered = s.undelivered + excluded.undelivered, cost_usd = s.cost_usd + excluded.cost_usd;
  select d.day into v_day
  from (
    select g::date as day from generate_series(
      (select date_trunc('day', min(created_at) at time zone 'UTC') from email_log),
      date_trunc('day', (now() - interval '1 hour') at time zone 'UTC') - interval '1 day', interval '1 day'
    ) g
  ) d
  where not exists (select from email_stats_closed x where x.day = d.day)
  order by d.day desc
  limit 1;
  if v_day is null then
    return 0;
  end if;
  with gone as (delete from email_stats_changes where day = v_day),
  closed as (insert into email_stats_closed (day) values (v_day))
  insert into email_stats_days (day, category, provider, status, count, failed_over, undelivered, cost_usd)
  select v_day, l.category, l.provider, l.status, count(*), count(*) filter (where l.failed_over),
    count(*) filter (where l.error is not null and l.status in ('sent', 'delivery_delayed')), coalesce(sum(l.cost_usd), 0)
  from email_log l
  where l.created_at >= v_day::timestamp at time zone 'UTC' and l.created_at < (v_day + 1)::timestamp at time zone 'UTC'
  group by 2, 3, 4;
  return 1;
end
$$;
