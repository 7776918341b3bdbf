-- The free reflow of a flyer job, once (DOC-32): claims `comp_conversion_id` and requests the conversion, all or nothing.
-- Returns `queued` (the same call again too), `not_found`, `resolved` (the claim is taken, or the flyer job has no result to
-- choose against) or `active`. Lock order: file, flyer job.
create or replace function request_reflow(
  p_flyer_id uuid, p_customer_id uuid, p_job_id uuid, p_options jsonb, p_window interval
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
  v_answer text;
begin
  select * into j from flyer_jobs where id = p_flyer_id and customer_id = p_customer_id;
  if not found then
    return 'not_found';
  end if;
  perform from files where id = j.file_id and deleted_at is null for no key update;
  if not found then
    return 'not_found';
  end if;
  if exists (select from flyer_jobs where id = p_flyer_id and comp_conversion_id = p_job_id) then
    return 'queued';
  end if;
  update flyer_jobs set comp_conversion_id = p_job_id, updated_at = clock_timestamp()
  where id = p_flyer_id and status = 'completed' and comp_conversion_id is null;
  if not found then
    return 'resolved';
  end if;
  v_answer := request_conversion(
    p_job_id, j.file_id, p_customer_id, p_options || jsonb_build_object('_compedFlyerJobId', p_flyer_id), p_window
  );
  if v_answer <> 'queued' then
    update flyer_jobs set comp_conversion_id = null where id = p_flyer_id and comp_conversion_id = p_job_id;
  end if;
  return v_answer;
end
$$;
