-- Takes the locks of keys or tags until the transaction ends, in one order for all callers. Nulls count for nothing.
create or replace function lock_email_keys(p_keys text[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_lock bigint;
begin
  for v_lock in
    select email_key_lock(x.key) from unnest(p_keys) as x(key) where x.key is not null order by 1
  loop
    perform pg_advisory_xact_lock(v_lock);
  end loop;
end
$$;
