-- A layout-true result that is being made can be stopped without deleting its file. One that is still running loses its claim,
-- as in 0018; it is `failed`, and what was set aside is given back (document 3, "Cancel", 7).

-- Answers `cancelled` (the same call again too), `not_active` or `not_found`.
create function cancel_flyer_job(p_id uuid, p_customer_id uuid, p_error text) returns text
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

-- As in 0018; a flyer job tells that it was the user who stopped it.
create or replace function delete_file(p_file_id uuid, p_customer_id uuid) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  loop
    select job_id into v_job from files where id = p_file_id and customer_id = p_customer_id and deleted_at is null;
    if not found then
      return 'not_found';
    end if;
    if v_job is not null and cancel_conversion_job(v_job, false) = 'finishing' then
      return 'finishing';
    end if;
    update files set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), name = ''
    where id = p_file_id and deleted_at is null and job_id is not distinct from v_job;
    -- Else it was deleted, or another conversion of it was asked for, at the same moment.
    exit when found;
  end loop;
  perform cancel_flyer_jobs_for_file(p_file_id, 'The user stopped the conversion: the file was deleted');
  perform release_hold(v_job, 'cancelled');
  return 'deleted';
end
$$;

select secure_function(f) from unnest(array[
  'cancel_flyer_job(uuid, uuid, text)', 'delete_file(uuid, uuid)'
]::regprocedure[]) as f;
