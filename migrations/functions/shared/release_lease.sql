-- Releases the lease: the next process that asks gets it.
create or replace function release_lease(p_name text, p_holder text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update leases l set expires_at = '-infinity'
  where l.name = p_name and l.holder = p_holder and l.expires_at > clock_timestamp();
  return found;
end
$$;
