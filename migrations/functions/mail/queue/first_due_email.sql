-- When the first request of these providers and lanes is due; null where none waits. A step of `take_queued_emails`; its settings apply.
create or replace function first_due_email(p_providers text[], p_lanes smallint[]) returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return (
    select min(x.due_at)
    from unnest(p_providers) as p(provider) cross join unnest(p_lanes) as l(lane) cross join lateral (
      select q.due_at from email_send_queue q
      where q.provider = p.provider and q.lane = l.lane and q.due_at is not null order by q.due_at limit 1
    ) as x
  );
end
$$;
