-- Requests a second that a provider is asked: what it said of its limit, else the usual rate, between two bounds; null is no upper bound (QUEUE-5).
create or replace function email_rate(p_rate float8, p_least float8, p_most float8, p_said float8) returns float8
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select least(greatest(coalesce(p_said, p_rate), p_least), p_most)
$$;
