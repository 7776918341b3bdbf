-- Sets funds for `p_pages` pages aside for the work `p_job_id`; false where they do not suffice, or were released before.
-- The same call again changes nothing.
create or replace function place_hold(p_customer_id uuid, p_job_id uuid, p_pages integer, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f record;
  v_state text;
begin
  perform from customers where id = p_customer_id for no key update;
  select h.state into v_state from funds_holds h where h.job_id = p_job_id;
  if found then
    return v_state <> 'released';
  end if;
  select * into f from available_funds(p_customer_id);
  if not found or greatest(f.credits, f.free_pages) < p_pages then
    return false;
  end if;
  insert into funds_holds (job_id, customer_id, credits, free_pages, expires_at) values (
    p_job_id, p_customer_id, case when f.plan = 'paid' then p_pages else 0 end,
    case when f.plan = 'paid' then 0 else p_pages end, clock_timestamp() + p_window
  );
  return true;
end
$$;
