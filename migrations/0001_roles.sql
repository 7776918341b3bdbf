-- What all other files build on: the one role that works with the tables, how tables and functions are closed to everybody
-- else, the leases of processes, and how addresses are kept.
--
-- Conventions of these files. Every table has row-level security and no policy, so that the anonymous and the signed-in
-- roles of a hosted platform see nothing even where they hold grants. Every function fixes its search path. A function that
-- TypeScript calls names the port that does so. A function that locks several rows names their order. There is one order for
-- each area, so that no two functions can wait for each other:
--
--   mail:        key (advisory), email_log by (provider, provider_message_id), email_suppressions, email_send_claims
--   conversions: job, batch row, chunk, file, flyer job, customer, hold
--   intake:      mail, customer, hold
--   outreach:    message (advisory), email_sends, prospects by address, unsubscribes by address (but `begin_outreach_send`)

do $$
begin
  if not exists (select from pg_roles where rolname = 'service_role') then
    begin
      create role service_role nologin;
    exception
      when duplicate_object or unique_violation then null; -- Another database of this server made it at the same time.
      when insufficient_privilege then null; -- `npm run migrate` says so.
    end;
  end if;
  if exists (select from pg_roles where rolname = 'service_role' and not rolbypassrls) then
    begin
      alter role service_role bypassrls;
    exception
      when insufficient_privilege then null; -- `npm run migrate` says so.
      when others then
        -- Two migrations of one server may alter the role at once; the other one has done it.
        if sqlerrm <> 'tuple concurrently updated' then raise; end if;
    end;
  end if;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant usage on schema public to service_role;
  end if;
end
$$;

-- Closes a table: row-level security, and grants for the service role only. Every file calls it for its tables.
create function secure_table(p_table regclass) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_role text;
begin
  execute format('alter table %s enable row level security', p_table);
  execute format('revoke all on table %s from public', p_table);
  for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
    execute format('revoke all on table %s from %I', p_table, v_role);
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    execute format('grant all on table %s to service_role', p_table);
  end if;
end
$$;

-- Closes a function in the same way. Every file calls it for its functions.
create function secure_function(p_function regprocedure) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_role text;
begin
  execute format('revoke all on function %s from public', p_function);
  for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
    execute format('revoke all on function %s from %I', p_function, v_role);
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    execute format('grant execute on function %s to service_role', p_function);
  end if;
end
$$;

select secure_function('secure_table(regclass)');
select secure_function('secure_function(regprocedure)');


-- Leases: work that one process at a time should do. The database's clock alone judges them. Called by `LeaseStore`.

create table leases (
  name text primary key,
  -- One incarnation of one process.
  holder text not null,
  -- Rises at every change of holder, and whenever a lease is taken anew.
  term bigint not null,
  -- From then on nobody holds the lease.
  expires_at timestamptz not null
) with (fillfactor = 50);

-- Takes the lease where nobody holds it, or where the same process lost track of holding it. Returns the new term, or null
-- where another process holds it. It reads the row first, so that followers who ask write nothing.
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

-- Prolongs a lease that has not expired; false where it has, or belongs to another term.
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

-- Releases the lease: the next process that asks gets it.
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


-- What callers of limited routes have used, by the hash of a key, for all processes together: the moment when all of the
-- allowance is free again. Lost in a crash of the server, which only opens what was limited. Called by `SharedAllowances`.
create unlogged table allowances (
  key text primary key,
  free_at timestamptz not null
) with (fillfactor = 50);


-- An address without what is invisible at its edges: white space, fillers, joiners, marks of direction. The same characters as in
-- `withoutInvisibleEdges` of the domain.
create function trim_address(p_address text) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- Almost all have none.
  if p_address ~ '^[!-~]*$' then
    return p_address;
  end if;
  return regexp_replace(p_address, '^[\s\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+|[\s\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+$', '', 'g');
end
$$;

-- Mail addresses are kept in lower case (ASCII, as everywhere), however a row was written by hand. Postlane's own
-- statements write them so, and the triggers pass them by.
create function address_in_lower_case() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.email := lower(trim_address(new.email) collate "C");
  return new;
end
$$;

select secure_table('leases');
select secure_table('allowances');

select secure_function(name) from unnest(array[
  'take_lease(text, text, integer)',
  'renew_lease(text, text, bigint, integer)',
  'release_lease(text, text)',
  'lease_is_held(text, bigint)',
  'trim_address(text)',
  'address_in_lower_case()'
]::regprocedure[]) as name;
