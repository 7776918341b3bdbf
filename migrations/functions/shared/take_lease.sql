-- Takes the lease where it is free, or where the same process lost track of holding it. Returns the new term, or null
-- where another process holds it. It reads the row first, so that followers who ask write nothing.
create or replace function take_lease(p_name text, p_holder text, p_ttl_ms integer) returns bigint
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_term bigint;
begin
  if exists (
    select from leases l where l.name = p_name and l.holder <> p_holder and l.expires_at > clock_timestamp()
  ) then
    return null;
  end if;
  insert into leases as l (name, holder, term, expires_at)
  values (p_name, p_holder, 1, clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0))
  on conflict (name) do update set
    holder = p_holder,
    term = l.term + 1,
    expires_at = clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0)
  where l.holder = p_holder or l.expires_at <= clock_timestamp()
  returning l.term into v_term;
  return v_term;
end
$$;
