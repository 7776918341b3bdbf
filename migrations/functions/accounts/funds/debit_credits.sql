-- Takes credits back, once for each reference of a customer, as `grant_credits` gives them: `debited`, `repeated`,
-- `reference_taken`, `not_found`; `insufficient` where that would leave less than what is set aside for work under way.
create or replace function debit_credits(
  p_customer_id uuid, p_credits integer, p_reference text, p_actor text, p_note text
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_email text;
  v_known integer;
begin
  select c.email into v_email from customers c where c.id = p_customer_id and c.deleted_at is null for no key update;
  if not found then return 'not_found'; end if;
  select g.credits into v_known from credit_grants g where g.customer_id = p_customer_id and g.reference = p_reference;
  if found then
    return case when v_known = -p_credits then 'repeated' else 'reference_taken' end;
  end if;
  if not exists (select from available_funds(p_customer_id) f where f.credits >= p_credits) then
    return 'insufficient';
  end if;
  insert into credit_grants (customer_id, credits, reference, actor)
  values (p_customer_id, -p_credits, p_reference, p_actor);
  update customers set credits_remaining = credits_remaining - p_credits where id = p_customer_id;
  insert into admin_audit_log (action, actor, target, note, details)
  values ('credits_debited', p_actor, v_email, p_note, jsonb_build_object('credits', p_credits, 'reference', p_reference));
  return 'debited';
end
$$;
