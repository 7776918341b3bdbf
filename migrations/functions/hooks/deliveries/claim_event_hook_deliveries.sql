-- Claims events that are due under a lease (`p_lease`, for `p_for`): by pending rows, since a cursor over their numbers would pass over
-- what commits late. Of one subject only the first that is still to be received, or what was redelivered. Of a hook at most `p_each`,
-- less what the caller is trying already (`p_busy`: hook and count), and one at a time of a hook that does not answer, so that
-- receivers that do never wait for it. The last `p_spare` of `p_limit` are for hooks that answer, one each: however many receivers
-- are slow at once, they leave these. Counts a try. The settings, and how a subject is looked for, as in `write_hook_deliveries`.
create or replace function claim_event_hook_deliveries(
  p_lease uuid, p_for interval, p_limit integer, p_each integer, p_busy jsonb default '{}', p_spare integer default 0
)
returns table (
  id uuid, hook_id uuid, message_id text, body text, tries integer, url text, secret text, old_secret text
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_from uuid := gen_random_uuid();
  v_is_scarce boolean := p_limit <= p_spare;
  v_limit integer := case when v_is_scarce then p_limit else p_limit - p_spare end;
begin
  return query
  with open as materialized (
    -- Starts at a hook by chance and goes around: with many hooks no more are looked at than fill the free places, and each has its turn.
    select h.id, p.places
    from (
      (select x.id, x.failing_since from event_hooks x where x.off_by is null and x.id >= v_from order by x.id)
      union all
      (select x.id, x.failing_since from event_hooks x where x.off_by is null and x.id < v_from order by x.id)
    ) as h
    cross join lateral (
      select least(v_limit, case (h.failing_since is null)::integer + (not v_is_scarce)::integer when 2 then p_each when 1 then 1 else 0 end
        - coalesce((p_busy ->> h.id::text)::integer, 0))
    ) as p(places)
    cross join lateral (
      select from event_hook_deliveries d where d.hook_id = h.id and d.state = 'pending' and d.next_at <= v_now limit 1
    ) as due
    where p.places > 0
    limit v_limit
  ), due as (
    select x.id
    from open h
    cross join lateral (
      select d.id, d.next_at from event_hook_deliveries d
      where d.hook_id = h.id and d.state = 'pending' and d.next_at <= v_now
        and (d.again or (
          select true from event_hook_deliveries b
          where b.hook_id = d.hook_id and b.subject between d.subject and d.subject and b.state = 'pending' and not b.again
            and b.sequence < d.sequence
          order by b.subject, b.sequence
          limit 1
        ) is not true)
      order by d.next_at, d.sequence
      limit least(h.places, ceil(2.0 * v_limit / (select count(*) from open)))
      for update skip locked
    ) as x
    order by row_number() over (partition by h.id order by x.next_at), x.next_at
    limit v_limit
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
