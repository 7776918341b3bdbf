-- What all other files build on: the one role that works with the tables, how tables and functions are closed to everybody
-- else, the leases of processes, and how addresses are kept.
--
-- Conventions of these files. Every table has row-level security and no policy, so that the anonymous and the signed-in
-- roles of a hosted platform see nothing even where they hold grants. Each function has its file; their conventions
-- and the order of locks are in functions/README.md.

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

-- Leases: work that one process at a time should do. The database's clock alone judges them. Called by `LeaseStore`.

create table leases (
  name text primary key,
  -- One incarnation of one process.
  holder text not null,
  -- Rises at every change of holder, and whenever an expired lease is taken again.
  term bigint not null,
  -- The lease is free from this moment on.
  expires_at timestamptz not null
) with (fillfactor = 50);

-- What callers of limited routes have used, by the hash of a key, for all processes together: the moment when all of the
-- allowance is free again. Lost in a crash of the server, which only opens what was limited. Called by `SharedAllowances`.
create unlogged table allowances (
  key text primary key,
  free_at timestamptz not null
) with (fillfactor = 50);

select secure_table('leases');
select secure_table('allowances');
