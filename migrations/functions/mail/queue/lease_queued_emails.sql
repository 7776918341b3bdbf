-- Gives each of these requests a new lease, and returns them in their order. The caller has locked them. `wait_ms`: until its token. A step of
-- `take_queued_emails`.
create or replace function lease_queued_emails(
  p_ids uuid[], p_now timestamptz, p_lease interval, p_first timestamptz, p_spacing interval
)
returns table (
  wait_ms float8, id uuid, lease uuid, idempotency_key text, request jsonb, deferral text, tried jsonb, deaths integer, refusals integer,
  age_ms float8, expires_in_ms float8
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with taken as (
    update email_send_queue q set
      state = 'sending', lease = gen_random_uuid(), deaths = q.deaths + (q.state = 'sending')::int, passed_lease = q.lease,
      due_at = p_now + p_lease + (x.place - 1) * p_spacing, first_taken_at = coalesce(q.first_taken_at, p_now)
    from unnest(p_ids) with ordinality as x(id, place)
    where q.id = x.id
    returning q.*, x.place
  )
  select
    greatest(0, extract(epoch from p_first + (t.place - 1) * p_spacing - p_now) * 1000)::float8, t.id, t.lease, t.idempotency_key,
    t.request, t.deferral, t.tried, t.deaths::integer, t.refusals,
    (extract(epoch from p_now - greatest(t.first_taken_at, t.send_at)) * 1000)::float8,
    (extract(epoch from t.expires_at - p_now) * 1000)::float8
  from taken t
  order by t.place;
end
$$;
