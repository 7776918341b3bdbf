-- How many different addresses there are.
create or replace function email_distinct_count(p_addresses text[]) returns integer
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if coalesce(cardinality(p_addresses), 0) < 2 then
    return coalesce(cardinality(p_addresses), 0);
  end if;
  return (select count(distinct x.address) from unnest(p_addresses) as x(address));
end
$$;
