-- A queue's text as JSON; null where it is not JSON.
create or replace function json_or_null(p_text text) returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_text::jsonb;
exception when invalid_text_representation then
  return null;
end
$$;
