-- Turns a hold into a charge, once. `p_pages` (null: as held) may be less than what was held, never more. Returns what
-- is true after it: `settled` (by this call or an earlier one), `released`, `insufficient` (the hold had expired and its
-- funds are spent, or the balance is below what was set aside) or `none`.
create or replace function settle_hold(p_job_id uuid, p_pages integer default null) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_credits integer;
  v_free_pages integer;
  v_pages integer;
  v_currency text;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id;
  if not found then
    return 'none';
  end if;
  if h.state <> 'held' then
    return h.state;
  end if;
  v_credits := least(h.credits, coalesce(p_pages, h.credits));
  v_free_pages := least(h.free_pages, coalesce(p_pages, h.free_pages));
  if h.expires_at <= clock_timestamp() or not exists (
    select from customers c
    where c.id = h.customer_id and coalesce(c.credits_remaining, 0) >= v_credits and 10 - c.lifetime_free_pages_used >= v_free_pages
  ) then
    v_pages := greatest(v_credits, v_free_pages);
    v_currency := hold_currency(h, v_pages);
    if v_currency is null then
      return 'insufficient';
    end if;
    v_credits := case when v_currency = 'credits' then v_pages else 0 end;
    v_free_pages := case when v_currency = 'free_pages' then v_pages else 0 end;
  end if;
  update funds_holds set state = 'settled', outcome = 'completed', closed_at = clock_timestamp() where id = h.id;
  update customers set
    credits_remaining = case when v_credits > 0 then credits_remaining - v_credits else credits_remaining end,
    lifetime_free_pages_used = lifetime_free_pages_used + v_free_pages
  where id = h.customer_id;
  insert into credit_charges (job_id, customer_id, credits, free_pages)
  values (p_job_id, h.customer_id, v_credits, v_free_pages);
  return 'settled';
end
$$;
