-- The inline path (DOCX, images: file status `processing`, no chunk job) and Preserve Formatting (document 3).

-- Claims the oldest file that waits for an inline conversion, or whose worker has not been heard of for `p_stale`. The same
-- call again gives the same file.
create function claim_inline(p_lease uuid, p_stale interval)
returns table (
  id uuid, job_id uuid, name text, kind text, object_key text, attempts integer, options jsonb
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update files f set
    lease = p_lease, heartbeat_at = clock_timestamp(), attempts = f.attempts + 1, phase = 'Converting',
    updated_at = clock_timestamp()
  from (
    select x.id from files x
    where x.status = 'processing' and x.deleted_at is null
      and (x.lease is null or x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
    order by x.lease is not distinct from p_lease desc, x.updated_at
    limit 1
    for no key update skip locked
  ) n
  where f.id = n.id
  returning f.id, f.job_id, f.name, f.kind, f.object_key, f.attempts, f.options
$$;

create function heartbeat_inline(p_file_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  update files set heartbeat_at = clock_timestamp()
  where id = p_file_id and lease = p_lease and status = 'processing' and deleted_at is null
  returning job_id into v_job;
  if not found then
    return false;
  end if;
  perform refresh_hold(v_job, p_window);
  return true;
end
$$;

-- The result is stored: the file is completed and the hold becomes the charge. Answers `completed`, `stale` or
-- `insufficient`.
create function finish_inline(p_file_id uuid, p_lease uuid, p_result_key text, p_costs jsonb) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  select * into f from files where id = p_file_id for no key update;
  if not found or f.lease is distinct from p_lease or f.deleted_at is not null then
    return 'stale';
  end if;
  if f.status = 'completed' then
    return 'completed';
  end if;
  if f.status <> 'processing' then
    return 'stale';
  end if;
  if settle_hold(f.job_id) = 'insufficient' then
    update files set
      status = 'failed', phase = null, error = 'Not enough credits were left when the result was ready',
      updated_at = clock_timestamp()
    where id = f.id;
    perform release_hold(f.job_id, 'failed');
    return 'insufficient';
  end if;
  update files set
    status = 'completed', result_key = p_result_key, phase = null, error = null, done = total,
    updated_at = clock_timestamp()
  where id = f.id;
  return 'completed';
end
$$;

-- An inline conversion did not succeed: the file waits again, but after the last attempt it has failed and nothing is
-- charged. Answers `stale`, `waiting` or `failed`.
create function fail_inline(p_file_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer)
returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  update files set
    status = case when attempts >= p_max_attempts then 'failed' else 'processing' end, lease = null,
    error = case when attempts >= p_max_attempts then p_error end, phase = 'Queued', updated_at = clock_timestamp()
  where id = p_file_id and lease = p_lease and status = 'processing'
  returning * into f;
  if not found then
    return 'stale';
  end if;
  if f.status = 'processing' then
    return 'waiting';
  end if;
  update files set phase = null where id = f.id;
  perform release_hold(f.job_id, 'failed');
  return 'failed';
end
$$;

-- Asks for a layout-true result of a PDF. Answers `queued`, `not_found`, `unsupported` (not a PDF), `active` or `insufficient`.
create function request_flyer(p_id uuid, p_file_id uuid, p_customer_id uuid, p_window interval) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  select * into f from files where id = p_file_id and customer_id = p_customer_id and deleted_at is null for no key update;
  if not found then
    return 'not_found';
  end if;
  if f.kind <> 'pdf' then
    return 'unsupported';
  end if;
  if exists (select from flyer_jobs where id = p_id) then
    return 'queued';
  end if;
  if f.status in ('processing', 'chunked_processing')
    or exists (select from flyer_jobs x where x.file_id = f.id and x.status in ('pending', 'processing')) then
    return 'active';
  end if;
  if not place_hold(p_customer_id, p_id, f.pages, p_window) then
    return 'insufficient';
  end if;
  insert into flyer_jobs (id, file_id, customer_id) values (p_id, p_file_id, p_customer_id);
  return 'queued';
end
$$;

-- As `claim_inline`.
create function claim_flyer(p_lease uuid, p_stale interval)
returns table (id uuid, file_id uuid, name text, object_key text, pages integer, attempts integer)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update flyer_jobs j set
    status = 'processing', lease = p_lease, heartbeat_at = clock_timestamp(), attempts = j.attempts + 1,
    updated_at = clock_timestamp()
  from (
    select x.id from flyer_jobs x
    where x.status = 'pending'
      or (x.status = 'processing' and (x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale))
    order by x.lease is not distinct from p_lease desc, x.created_at
    limit 1
    for no key update skip locked
  ) n, files f
  where j.id = n.id and f.id = j.file_id
  returning j.id, j.file_id, f.name, f.object_key, f.pages, j.attempts
$$;

create function heartbeat_flyer(p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update flyer_jobs set heartbeat_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing';
  if not found then
    return false;
  end if;
  perform refresh_hold(p_id, p_window);
  return true;
end
$$;

-- The layout-true result is stored; the hold becomes the charge. Answers `completed`, `stale` or `insufficient`.
create function finish_flyer(p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  j flyer_jobs;
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
  if settle_hold(p_id) = 'insufficient' then
    update flyer_jobs set
      status = 'failed', error = 'Not enough credits were left when the result was ready', updated_at = clock_timestamp()
    where id = p_id;
    perform release_hold(p_id, 'failed');
    return 'insufficient';
  end if;
  update flyer_jobs set status = 'completed', result_key = p_result_key, error = null, updated_at = clock_timestamp()
  where id = p_id;
  return 'completed';
end
$$;

-- Answers `stale`, `pending` (it is tried again) or `failed` (its funds are given back).
create function fail_flyer(p_id uuid, p_lease uuid, p_error text, p_costs jsonb, p_max_attempts integer) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_status text;
begin
  perform book_costs(p_costs);
  update flyer_jobs set
    status = case when attempts >= p_max_attempts then 'failed' else 'pending' end, lease = null, error = p_error,
    updated_at = clock_timestamp()
  where id = p_id and lease = p_lease and status = 'processing'
  returning status into v_status;
  if not found then
    return 'stale';
  end if;
  if v_status = 'failed' then
    perform release_hold(p_id, 'failed');
  end if;
  return v_status;
end
$$;

-- The free reflow of a flyer job, once: claims `comp_conversion_id` and asks for the conversion, all or nothing. Answers
-- `queued` (the same call again too), `not_found`, `resolved` (the claim is taken, or the flyer job has no result to choose
-- against) or `active`.
create function request_reflow(
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

select secure_function(f) from unnest(array[
  'claim_inline(uuid, interval)', 'heartbeat_inline(uuid, uuid, interval)', 'finish_inline(uuid, uuid, text, jsonb)',
  'fail_inline(uuid, uuid, text, jsonb, integer)', 'request_flyer(uuid, uuid, uuid, interval)',
  'claim_flyer(uuid, interval)', 'heartbeat_flyer(uuid, uuid, interval)', 'finish_flyer(uuid, uuid, text, jsonb)',
  'fail_flyer(uuid, uuid, text, jsonb, integer)', 'request_reflow(uuid, uuid, uuid, jsonb, interval)'
]::regprocedure[]) as f;
