-- What waits in the queue, what is paused, and the pace of each provider, for people (QUEUE-9). Called by `SendQueue`.
create or replace function email_queue_overview() returns jsonb
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select jsonb_build_object(
    'categories', (
      select coalesce(jsonb_agg(to_jsonb(c) order by c.lane), '[]') from (
        select q.category, q.lane, count(*) filter (where q.state = 'queued' and q.due_at <= now()) as due,
          count(*) filter (where q.state = 'queued' and q.due_at > now()) as later,
          count(*) filter (where q.state = 'sending') as sending, count(*) filter (where q.state = 'deferred') as deferred,
          min(q.due_at) filter (where q.state = 'queued' and q.due_at <= now()) as "oldestDueAt"
        from email_send_queue q where q.due_at is not null group by q.category, q.lane
      ) as c),
    'paused', (select coalesce(jsonb_agg(jsonb_build_object('scope', x.scope, 'actor', x.actor, 'pausedAt', x.paused_at) order by x.scope), '[]')
      from email_queue_pauses x),
    'pace', (select coalesce(jsonb_agg(jsonb_build_object(
        'provider', x.provider, 'ratePerSecond', x.rate, 'heldUntil', case when x.held_until > now() then x.held_until end, 'taken', x.taken
      ) order by x.provider), '[]') from email_pace x)
  )
$$;
