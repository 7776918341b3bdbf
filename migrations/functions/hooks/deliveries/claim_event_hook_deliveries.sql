-- Claims events that are due under a lease (`p_lease`, for `p_for`): by pending rows, since a cursor over their numbers would pass over
-- what commits late. Of one subject only the first that is still to be received, or what was redelivered. Of a hook at most `p_each`,
-- less what the caller is trying already (`p_busy`: hook and count), and one at a time of a hook that does not answer, so that
-- receivers that do never wait for it. Counts a try. The setting as in `write_hook_deliveries`.
create or replace function claim_event_hook_deliveries(
  p_lease uuid, p_for interval, p_limit integer, p_each integer, p_busy jsonb default '{}'
)
returns table (
  id uuid, hook_id uuid, message_id text, body text, tries integer, url text, secret text, old_secret text
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
begin
  return query
  with due as (
    select x.id
    from event_hooks h
    cross join lateral (
      select d.id, d.next_at from event_hook_deliveries d
      where d.hook_id = h.id and d.state = 'pending' and d.next_at <= v_now
        and (d.again or not exists (
          select from event_hook_deliveries b
          where b.hook_id = d.hook_id and b.subject = d.subject and b.state = 'pending' and not b.again
            and b.sequence < d.sequence
        ))
      order by d.next_at, d.sequence
      limit least(p_limit, greatest(
        0, case when h.failing_since is null then p_each else 1 end - coalesce((p_busy ->> h.id::text)::integer, 0)
      ))
      for update skip locked
    ) as x
    where h.off_by is null
    order by row_number() over (partition by h.id order by x.next_at), x.next_at
    limit p_limit
  ), claimed as (
    update event_hook_deliveries d set lease = p_lease, next_at = v_now + p_for, tries = d.tries + 1, tried_at = v_now
    from due where d.id = due.id
    returning d.*
  )
  select c.id, c.hook_id, c.message_id, c.body, c.tries, h.url, h.secret,
    case when h.old_secret_until > v_now then h.old_secret end
  from claimed c join event_hooks h on h.id = c.hook_id
  order by c.sequence;
end
$$;
