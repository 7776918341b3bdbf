-- Counts requests that others than the queue made to a provider (`p_asked`), and keeps what it said of its pace: its limit a
-- second, and for how long it takes nothing, milliseconds; null where it said nothing (QUEUE-5). Called by `SendQueue`.
create or replace function hear_email_provider(
  p_provider text, p_asked integer, p_rate float8, p_least float8, p_most float8, p_said float8, p_hold_ms float8
) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into email_pace as x (provider, free_at, reserved_at, rate, held_until)
  values (
    p_provider, clock_timestamp() + interval '1 second', clock_timestamp() + interval '1 second', p_said,
    clock_timestamp() + make_interval(secs => p_hold_ms / 1000)
  )
  on conflict (provider) do update set
    -- Direct sends never wait, and hold the queue back for a second at most.
    free_at = least(
      greatest(x.free_at, clock_timestamp()) + p_asked * make_interval(secs => 1 / greatest(email_rate(p_rate, p_least, p_most, coalesce(excluded.rate, x.rate)), 0.1)),
      greatest(x.free_at, clock_timestamp() + interval '1 second')),
    rate = coalesce(excluded.rate, x.rate),
    -- What direct sends get while the provider is held prolongs nothing: without an end the queue would never get its own token.
    held_until = case when p_asked > 0 and x.held_until > clock_timestamp() then x.held_until
      else greatest(x.held_until, excluded.held_until) end
$$;
