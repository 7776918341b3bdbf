-- The flyer is stored: the hold becomes the charge for the pages that could be read (R2). Returns `insufficient` where the hold
-- had lapsed and the funds are spent: then the flyer has failed, with the sentence of `p_reasons` for this code. Lock order: flyer job, customer, hold.
create or replace function complete_flyer(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_unreadable integer[] default '{}',
  p_reasons jsonb default '{}'
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
  v_pages integer;
begin
  perform book_costs(p_costs);
  select * into j from flyer_jobs where id = p_id for no key update;
  if not found or j.lease is distinct from p_lease then
    return 'stale';
  end if;
  if j.status = 'completed' then
    return 'completed';
  end if;
  if j.status <> 'processing' then
    return 'stale';
  end if;
  select greatest(pages - cardinality(p_unreadable), 0) into v_pages from files
  where id = j.file_id and cardinality(p_unreadable) > 0;
  if settle_hold(p_id, v_pages) = 'insufficient' then
    update flyer_jobs set
      status = 'failed', error = coalesce(p_reasons ->> 'insufficient', 'insufficient'), updated_at = clock_timestamp()
    where id = p_id;
    perform release_hold(p_id, 'failed');
    return 'insufficient';
  end if;
  update flyer_jobs set
    status = 'completed', result_key = p_result_key, error = null, unreadable_pages = p_unreadable,
    updated_at = clock_timestamp()
  where id = p_id;
  return 'completed';
end
$$;
