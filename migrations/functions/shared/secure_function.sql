-- Closes a function in the same way. One that runs with its owner's rights is for the applications that queue mail in their own transactions, and for
-- their role alone.
create or replace function secure_function(p_function regprocedure) returns void
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
  if (select p.prosecdef from pg_proc p where p.oid = p_function) and exists (select from pg_roles where rolname = 'postlane_enqueue') then
    execute format('grant execute on function %s to postlane_enqueue', p_function);
  end if;
end
$$;
