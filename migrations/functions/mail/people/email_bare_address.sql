-- The bare lower-case address of `a@x.test` or `Name <A@x.test>`.
create or replace function email_bare_address(p_address text) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return nullif(lower_address(trim_address(case
    when position('<' in p_address) = 0 then p_address
    else coalesce(substring(trim_address(p_address) from '<([^<>]*)>$'), p_address)
  end)), '');
end
$$;
