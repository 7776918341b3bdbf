-- Notes by how much a change of a row moves the figures of its day, where that day is over.
create or replace function email_log_counted() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' and (
    old.created_at, old.category, old.provider, old.status, old.failed_over, old.cost_usd,
    email_is_undelivered(old.status, old.error)
  ) is not distinct from (
    new.created_at, new.category, new.provider, new.status, new.failed_over, new.cost_usd,
    email_is_undelivered(new.status, new.error)
  ) then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.created_at < this_midnight() then
    insert into email_stats_changes (day, category, provider, status, count, failed_over, undelivered, cost_usd)
    values ((old.created_at at time zone 'UTC')::date, old.category, old.provider, old.status, -1, -old.failed_over::integer,
      -email_is_undelivered(old.status, old.error)::integer, -coalesce(old.cost_usd, 0));
  end if;
  if tg_op <> 'DELETE' and new.created_at < this_midnight() then
    insert into email_stats_changes (day, category, provider, status, count, failed_over, undelivered, cost_usd)
    values ((new.created_at at time zone 'UTC')::date, new.category, new.provider, new.status, 1, new.failed_over::integer,
      email_is_undelivered(new.status, new.error)::integer, coalesce(new.cost_usd, 0));
  end if;
  return null;
end
$$;
