-- The number of the transaction lock that orders an early event and a deferral of the same use of a key: of its tag, or of the key
-- where its requests carry none.
create or replace function email_key_lock(p_name text) returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return hashtextextended('postlane.email_key ' || p_name, 0);
end
$$;
