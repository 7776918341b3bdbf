-- Prolongs a lease that has not expired; false where it has, or belongs to another term.
create or replace function renew_lease(p_name text, p_holder text, p_term bigint, p_ttl_ms integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update leases l set expires_at = clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0)
  where l.name = p_name and l.holder = p_holder and l.term = p_term and l.expires_at > clock_timestamp();
  return found;
end
$$;
