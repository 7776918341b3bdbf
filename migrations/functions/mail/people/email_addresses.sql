-- The bare lower-case addresses of one address or a list of them, as JSON, in their order.
create or replace function email_addresses(p_value jsonb) returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_plain text[];
  v_joined text;
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}';
      elsif jsonb_array_length(p_value) = 1 then
        v_plain := array[p_value ->> 0];
      else
        v_plain := array(select jsonb_array_elements_text(p_value));
      end if;
    when 'string' then v_plain := array[p_value #>> '{}'];
    else return '{}';
  end case;
  -- Postlane's own callers pass them bare and in lower case.
  v_joined := array_to_string(v_plain, ',', '');
  if v_joined = lower(v_joined) and v_joined !~ '[<>\s]|(^|,)(,|$)' then
    return v_plain;
  end if;
  return array(
    select email_bare_address(x.address)
    from unnest(v_plain) with ordinality as x(address, position)
    where email_bare_address(x.address) is not null
    order by x.position
  );
end
$$;
