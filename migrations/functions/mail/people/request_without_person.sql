-- A request of the send queue without one of its recipients; `to` may be an empty list then.
create or replace function request_without_person(p_request jsonb, p_email text) returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_name text;
begin
  foreach v_name in array array['to', 'cc', 'bcc'] loop
    if p_email = any (email_addresses(p_request -> v_name)) then
      p_request := jsonb_set(p_request, array[v_name], (
        select coalesce(jsonb_agg(x.item order by x.place), '[]')
        from jsonb_array_elements(case jsonb_typeof(p_request -> v_name) when 'array' then p_request -> v_name else jsonb_build_array(p_request -> v_name) end)
          with ordinality as x(item, place)
        where p_email <> all (email_addresses(x.item))
      ));
    end if;
  end loop;
  return p_request;
end
$$;
