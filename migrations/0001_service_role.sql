-- The service role is the only role that works with the tables; every table has row-level security and no policy, so that
-- the anonymous and the signed-in roles of a hosted platform see nothing even where they hold grants.

do $$
begin
  if not exists (select from pg_roles where rolname = 'service_role') then
    begin
      create role service_role nologin;
    exception
      when duplicate_object or unique_violation then null; -- Another database of this server made it at the same time.
      when insufficient_privilege then
        raise notice 'role service_role could not be created: grant the tables to the role that Postlane connects as';
    end;
  end if;
  if exists (select from pg_roles where rolname = 'service_role' and not rolbypassrls) then
    begin
      alter role service_role bypassrls;
    exception
      when insufficient_privilege then
        raise notice 'role service_role could not be given bypassrls: connect as the owner of the tables, or as a role that has it';
      when others then
        -- Two migrations of one server may alter the role at once; the other one has done it.
        if sqlerrm <> 'tuple concurrently updated' then raise; end if;
    end;
  end if;
end
$$;

-- For every table that a migration makes: row-level security on, nothing for anybody but the service role.
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

-- For every function that a migration makes.
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

revoke all on function secure_table(regclass) from public;
revoke all on function secure_function(regprocedure) from public;

do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant usage on schema public to service_role;
  end if;
end
$$;
