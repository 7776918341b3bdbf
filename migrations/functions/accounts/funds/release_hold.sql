-- Releases what was set aside; true for the call that did it.
create or replace function release_hold(p_job_id uuid, p_outcome text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  update funds_holds set state = 'released', outcome = p_outcome, closed_at = clock_timestamp()
  where job_id = p_job_id and state = 'held';
  return found;
end
$$;
