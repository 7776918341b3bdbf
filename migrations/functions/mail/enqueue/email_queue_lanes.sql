-- The categories in the order in which the queue sends them; the place of a category is its lane. Equals `QUEUE_ORDER` in the domain.
create or replace function email_queue_lanes() returns text[]
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select array['auth', 'alert', 'transactional', 'notification', 'marketing']
$$;
