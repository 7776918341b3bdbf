-- Makes a hold last for `p_window` from now, shorter or longer than before. An expired hold is set aside again, by the present
-- plan. False where the funds no longer suffice, or there is no open hold.
create or replace function refresh_hold(p_job_id uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_pages integer;
  v_currency text;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id and state = 'held';
  if not found then
    return false;
  end if;
  if h.expires_at <= clock_timestamp() then
    v_pages := greatest(h.credits, h.free_pages);
    v_currency := hold_currency(h, v_pages);
    if v_currency is null then
      return false;
    end if;
    update funds_holds set
      credits = case when v_currency = 'credits' then v_pages else 0 end,
      free_pages = case when v_currency = 'free_pages' then v_pages else 0 end
    where id = h.id;
  end if;
  update funds_holds set expires_at = clock_timestamp() + p_window where id = h.id;
  return true;
end
$$;
