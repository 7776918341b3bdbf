-- Deletes rows of the log that are older than `p_keep`, with their events and alerts, the oldest first, `p_limit` at most; their
-- statistics stay (EVENT-64). Not deleted: rows with a bound key, an open deferral, an alert that has not gone out or an event of
-- the last seven days, and rows of days that are not closed. Walks from closed day to closed day, so that it reads little more than
-- it deletes however many rows open days have. Returns how many; the leader calls again while it returns `p_limit`. The settings and the lists of
-- ids: no call reads the whole of another table.
create or replace function prune_email_log(p_keep interval, p_limit integer default 5000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_bitmapscan = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_before timestamptz := now() - p_keep;
  v_day date;
  v_gone integer;
  v_count integer := 0;
begin
  perform set_config('postlane.pruning', 'on', true);
  for v_day in
    select d.day from email_stats_closed d
    where d.day between (select (min(l.created_at) at time zone 'UTC')::date from email_log l)
      and (v_before at time zone 'UTC')::date
    order by d.day
  loop
    with old as materialized (
      select l.id from email_log l
      where l.created_at >= v_day::timestamp at time zone 'UTC'
        and l.created_at < least(v_before, (v_day + 1)::timestamp at time zone 'UTC')
        and l.updated_at < now() - interval '7 days' and l.status <> 'deferred'
        and not exists (select from email_send_claims c where c.key_hash = l.key_hash)
        and not exists (select from email_alerts a where a.send_id = l.id and a.due_at is not null)
      order by l.created_at, l.id
      limit p_limit - v_count
      for update skip locked
    ), events as (delete from email_events x where x.send_id = any (array(select old.id from old))),
    alerts as (delete from email_alerts x where x.send_id = any (array(select old.id from old)))
    delete from email_log l where l.id = any (array(select old.id from old));
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
    exit when v_count >= p_limit;
  end loop;
  perform set_config('postlane.pruning', '', true);
  return v_count;
end
$$;
