-- Lets somebody sign in as an admin: `invited`; `changed` where they had other rights, which ends their sessions; `exists`.
-- Called by `Admins`.
create or replace function invite_admin(p_email text, p_rights text[], p_actor text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_is_new boolean;
  v_answer text;
begin
  insert into admins as a (email, rights, invited_by) values (p_email, p_rights, p_actor)
  on conflict (email) do update set rights = excluded.rights where a.rights <> excluded.rights
  -- A row that was there is locked before it is updated, and says so.
  returning a.xmax = 0 into v_is_new;
  if not found then return 'exists'; end if;
  v_answer := case when v_is_new then 'invited' else 'changed' end;
  delete from sessions where admin_email = p_email;
  insert into admin_audit_log (action, actor, target, details)
  values ('admin_' || v_answer, p_actor, p_email, jsonb_build_object('rights', p_rights));
  return v_answer;
end
$$;
