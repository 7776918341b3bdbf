-- What is wrong with a field of addresses, one or a list of them; null where nothing is. The sender takes them apart once more.
create or replace function queued_addresses_fault(p_field text, p_value jsonb) returns text
language plpgsql
immutable
strict
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_is_list boolean := jsonb_typeof(p_value) = 'array';
  v_list jsonb := case when v_is_list then p_value else jsonb_build_array(p_value) end;
  v_item jsonb;
begin
  if not v_is_list and jsonb_typeof(p_value) <> 'string' then
    return p_field || ': must be an address or a list of addresses';
  end if;
  for v_at in 0 .. jsonb_array_length(v_list) - 1 loop
    v_item := v_list -> v_at;
    if jsonb_typeof(v_item) <> 'string' or v_item #>> '{}' !~ '^[^\n\r]*?[^\s<>@,;]+@[^\s<>@,;]+>?\s*$' then
      return p_field || case when v_is_list then '.' || v_at else '' end || ': is not an e-mail address';
    end if;
  end loop;
  return null;
end
$$;
