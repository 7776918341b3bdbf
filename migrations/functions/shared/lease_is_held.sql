-- For the guard of a write that only the leader of a term may make: whether that term holds now, and until this
-- transaction ends. A holder that slept through its lease gets false.
create or replace function lease_is_held(p_name text, p_term bigint) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from leases l
  where l.name = p_name and l.term = p_term and l.expires_at > clock_timestamp()
  for share;
  return found;
end
$$;
