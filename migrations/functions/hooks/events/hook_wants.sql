-- Whether a hook with these types asks for events of the type. Equals `wants` in the domain.
create or replace function hook_wants(p_types text[], p_type text) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return array['*', split_part(p_type, '.', 1) || '.*', p_type] && p_types;
end
$$;
