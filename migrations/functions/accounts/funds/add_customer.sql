-- Registers a customer, or opens a closed account again: `added`, `reopened`, or `exists` where nothing was changed.
-- `p_email`: bare and lower-case.
create or replace function add_customer(p_email text, p_name text, p_actor text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_answer text := 'added';
begin
  insert into customers (email, name) values (p_email, p_name) on conflict (email) do nothing;
  if not found then
    update customers set deleted_at = null, name = coalesce(p_name, name)
    where email = p_email and deleted_at is not null;
    if not found then return 'exists'; end if;
    v_answer := 'reopened';
  end if;
  insert into admin_audit_log (action, actor, target) values ('customer_' || v_answer, p_actor, p_email);
  return v_answer;
end
$$;
