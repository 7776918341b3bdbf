-- Removes an admin, with their sessions and links. Called by `Admins`.
create or replace function remove_admin(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  delete from admins where email = p_email;
  if not found then return false; end if;
  insert into admin_audit_log (action, actor, target) values ('admin_removed', p_actor, p_email);
  return true;
end
$$;
