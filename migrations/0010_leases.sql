-- Leases: work that one process at a time should do. The database's clock alone judges them.

create table leases (
  name text primary key,
  -- One incarnation of one process.
  holder text not null,
  -- Rises at every change of holder, and whenever a lease is taken anew.
  term bigint not null,
  -- Past it the lease is nobody's, whoever held it.
  expires_at timestamptz not null
) with (fillfactor = 50);

-- Takes the lease where it is nobody's, or where the same process lost track of holding it: the new term; null where
-- another process holds it. The row is looked at first, so that followers who ask write nothing.
create function take_lease(p_name text, p_holder text, p_ttl_ms integer) returns bigint
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

-- Prolongs a lease that has not run out; false where it has, or is another term's.
create function renew_lease(p_name text, p_holder text, p_term bigint, p_ttl_ms integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update leases l set expires_at = clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0)
  where l.name = p_name and l.holder = p_holder and l.term = p_term and l.expires_at > clock_timestamp();
  return found;
end
$$;

-- Hands the lease over: whoever asks next gets it.
create function release_lease(p_name text, p_holder text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update leases l set expires_at = '-infinity'
  where l.name = p_name and l.holder = p_holder and l.expires_at > clock_timestamp();
  return found;
end
$$;

-- For the guard of a write that only the leader of a term may make: whether that term holds now, and until this
-- transaction ends. A holder that slept through its lease gets false.
create function lease_is_held(p_name text, p_term bigint) returns boolean
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

select secure_table('leases');
select secure_function('take_lease(text, text, integer)');
select secure_function('renew_lease(text, text, bigint, integer)');
select secure_function('release_lease(text, text)');
select secure_function('lease_is_held(text, bigint)');
