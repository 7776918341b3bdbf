-- Makes an open hold large enough for `p_pages` (null: it is); false where the funds do not suffice. It never shrinks one,
-- and what is free of charge stays so. One that is made larger follows the plan.
create or replace function widen_hold(p_job_id uuid, p_pages integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_currency text;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id and state = 'held';
  -- What is free of charge stays so.
  if not found or greatest(h.credits, h.free_pages) = 0 or coalesce(p_pages, 0) <= greatest(h.credits, h.free_pages) then
    return true;
  end if;
  v_currency := hold_currency(h, p_pages);
  if v_currency is null then
    return false;
  end if;
  update funds_holds set
    credits = case when v_currency = 'credits' then p_pages else 0 end,
    free_pages = case when v_currency = 'free_pages' then p_pages else 0 end
  where id = h.id;
  return true;
end
$$;
