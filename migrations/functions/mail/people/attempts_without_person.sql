-- What is left of a row's attempts.
create or replace function attempts_without_person(p_attempts jsonb) returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select jsonb_agg(x.value || '{"reason": null}' order by x.place)
  from jsonb_array_elements(case jsonb_typeof(p_attempts) when 'array' then p_attempts end) with ordinality as x(value, place)
$$;
