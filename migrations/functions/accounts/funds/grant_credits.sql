-- Gives credits, once for each reference of a customer: `granted`; `repeated` where the same was given before; `reference_taken`
-- where the reference was used for another number; `too_many`, `not_found`. The row lock of the customer makes grants, charges and
-- holds follow one another (DOC-33).
create or replace function grant_credits(
  p_customer_id uuid, p_credits integer, p_reference text, p_actor text, p_note text
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_email text;
  v_balance bigint;
  v_known integer;
begin
  select c.email, coalesce(c.credits_remaining, 0) into v_email, v_balance
  from customers c where c.id = p_customer_id and c.deleted_at is null for no key update;
  if not found then return 'not_found'; end if;
  select g.credits into v_known from credit_grants g where g.customer_id = p_customer_id and g.reference = p_reference;
  if found then
    return case when v_known = p_credits then 'repeated' else 'reference_taken' end;
  end if;
  if v_balance + p_credits > 2147483647 then return 'too_many'; end if;
  insert into credit_grants (customer_id, credits, reference, actor)
  values (p_customer_id, p_credits, p_reference, p_actor);
  update customers set plan_type = 'paid', credits_remaining = v_balance + p_credits where id = p_customer_id;
  insert into admin_audit_log (action, actor, target, note, details)
  values ('credits_granted', p_actor, v_email, p_note, jsonb_build_object('credits', p_credits, 'reference', p_reference));
  return 'granted';
end
$$;
