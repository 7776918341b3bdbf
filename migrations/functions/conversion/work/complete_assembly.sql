-- The result is stored: the job and its file are completed and the hold becomes the charge for the pages that could be read,
-- all or nothing (DOC-16, F2). Returns `insufficient` where the hold had lapsed and the funds are spent, `unreadable` where no
-- page could be read: then the job has failed, free of charge, with the sentence that `p_reasons` has for this code. Lock order: job, file, customer, hold.
create or replace function complete_assembly(
  p_id uuid, p_lease uuid, p_result_key text, p_unreadable integer[] default '{}', p_has_text boolean default null,
  p_no_model integer[] default '{}', p_made jsonb default null, p_reasons jsonb default '{}'
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j large_conversion_jobs;
  v_now timestamptz;
  v_lost integer := cardinality(p_unreadable);
begin
  select * into j from large_conversion_jobs where id = p_id for no key update;
  if not found or j.lease is distinct from p_lease then
    return 'stale';
  end if;
  if j.status = 'completed' then
    return 'completed';
  end if;
  if j.status <> 'assembling' then
    return 'stale';
  end if;
  perform from files where id = j.file_id for no key update;
  if v_lost > 0 and v_lost >= j.total_pages then
    perform fail_conversion_job(p_id, coalesce(p_reasons ->> 'unreadable', 'unreadable'));
    return 'unreadable';
  end if;
  if settle_hold(p_id, case when v_lost > 0 then j.total_pages - v_lost end) = 'insufficient' then
    perform fail_conversion_job(p_id, coalesce(p_reasons ->> 'insufficient', 'insufficient'));
    return 'insufficient';
  end if;
  v_now := clock_timestamp();
  update large_conversion_jobs set
    status = 'completed', finished_at = v_now, updated_at = v_now, total_cost_usd = conversion_cost(id)
  where id = p_id;
  update files set
    status = 'completed', result_key = p_result_key, done = total, phase = null, error = null,
    unreadable_pages = p_unreadable, no_model_pages = p_no_model, has_text = p_has_text, made = p_made,
    made_at = v_now, updated_at = v_now
  where id = j.file_id and job_id = p_id and status = 'chunked_processing';
  return 'completed';
end
$$;
