-- Closes a table: row-level security, and grants for the service role only. Every file calls it for its tables.
create or replace function secure_table(p_table regclass) returns void
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
