-- What is wrong with a field of addresses, one or a list of them; null where nothing is. The sender takes them apart once more.
create or replace function queued_addresses_fault(p_field text, p_value jsonb) returns text
language plpgsql
immutable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_item jsonb;
  v_place text;
begin
  if p_value is null then
    return null;
  end if;
  if jsonb_typeof(p_value) not in ('string', 'array') then
    return p_field || ': must be an address or a list of addresses';
  end if;
  for v_item, v_place in
    select x.item, case jsonb_typeof(p_value) when 'array' then p_field || '.' || (x.place - 1) else p_field end
    from jsonb_array_elements(case jsonb_typeof(p_value) when 'array' then p_value else jsonb_build_array(p_value) end)
      with ordinality as x(item, place)
  loop
    if jsonb_typeof(v_item) <> 'string' or v_item #>> '{}' !~ '^[^\n\r]*?[^\s<>@,;]+@[^\s<>@,;]+>?\s*$' then
      return v_place || ': is not an e-mail address';
    end if;
  end loop;
  return null;
end
$$;
