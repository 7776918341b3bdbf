-- Stops a flyer that is being made, without deleting its file. A running one loses its claim; it is `failed`, and what was
-- set aside is released (DOC-42). Returns `cancelled` (the same call again too), `not_active` or `not_found`. Lock order:
-- flyer job, customer, hold.
create or replace function cancel_flyer_job(p_id uuid, p_customer_id uuid, p_error text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
begin
  select * into j from flyer_jobs where id = p_id and customer_id = p_customer_id for no key update;
  if not found then
    return 'not_found';
  end if;
  if j.status = 'failed' and j.error = p_error then
    return 'cancelled';
  end if;
  if j.status not in ('pending', 'processing') then
    return 'not_active';
  end if;
  update flyer_jobs set status = 'failed', error = p_error, lease = null, updated_at = clock_timestamp() where id = p_id;
  perform release_hold(p_id, 'cancelled');
  return 'cancelled';
end
$$;
