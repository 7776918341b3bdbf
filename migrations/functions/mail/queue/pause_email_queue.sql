-- Pauses a category of the queue, or all of it (null), or lifts that pause; leaves an audit row where it changed something (QUEUE-8). Called by `SendQueue`. Resuming all lifts
-- only the pause of all.
create or replace function pause_email_queue(p_category text, p_actor text, p_is_paused boolean) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_scope text := coalesce(p_category, '*');
  v_changed boolean;
begin
  if p_is_paused then
    insert into email_queue_pauses (scope, actor) values (v_scope, p_actor) on conflict do nothing;
  else
    delete from email_queue_pauses x where x.scope = v_scope;
  end if;
  v_changed := found;
  if v_changed then
    insert into admin_audit_log (action, actor, target)
    values (case when p_is_paused then 'email_queue_pause' else 'email_queue_resume' end, p_actor, v_scope);
  end if;
  return v_changed;
end
$$;
