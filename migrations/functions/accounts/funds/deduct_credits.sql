-- Deducts credits atomically; raises where the credits that no hold sets aside do not suffice (DOC-30).
create or replace function deduct_credits(p_customer_id uuid, p_amount integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_amount is null or p_amount < 0 then
    raise exception 'an amount of credits cannot be %', p_amount using errcode = 'invalid_parameter_value';
  end if;
  perform from customers where id = p_customer_id for no key update;
  if not exists (select from available_funds(p_customer_id) f where f.credits >= p_amount) then
    raise exception 'insufficient credits' using errcode = 'PL402';
  end if;
  update customers set credits_remaining = coalesce(credits_remaining, 0) - p_amount
  where id = p_customer_id and p_amount > 0;
end
$$;
