-- A result says which of its document's pages could not be read, and whether there is a word of text in it. Pages that could
-- not be read are not charged; where none could, there is no result and no charge. Where pages are counted from the result, it
-- is they that are charged, not what was held for them.

alter table files
  -- Of the result under `result_key`: pages from 1; null: not known.
  add column unreadable_pages integer[] not null default '{}',
  add column has_text boolean;
alter table flyer_jobs add column unreadable_pages integer[] not null default '{}';

-- Makes an open hold large enough for `p_pages` (null: it is); false where the funds do not suffice. Smaller it never gets here.
create function widen_hold(p_job_id uuid, p_pages integer) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id and state = 'held';
  -- What is free of charge stays so.
  if not found or greatest(h.credits, h.free_pages) = 0 or coalesce(p_pages, 0) <= greatest(h.credits, h.free_pages) then
    return true;
  end if;
  if not exists (
    select from available_funds(h.customer_id, p_job_id) f
    where p_pages <= case when h.credits > 0 then f.credits else f.free_pages end
  ) then
    return false;
  end if;
  update funds_holds set
    credits = case when h.credits > 0 then p_pages else 0 end,
    free_pages = case when h.free_pages > 0 then p_pages else 0 end
  where id = h.id;
  return true;
end
$$;

drop function finish_conversion_job(uuid, uuid, text);

-- As in 0018. The result is stored under `p_result_key`: the job and its file are completed and the hold becomes the charge for the pages
-- that could be read, all or nothing. Answers `completed` (the same call again too), `stale`, `insufficient`: the hold had lapsed
-- and the funds are spent, or `unreadable`: no page could be read. In the last two the job has failed, free of charge.
create function finish_conversion_job(
  p_job_id uuid, p_lease uuid, p_result_key text, p_unreadable integer[] default '{}', p_has_text boolean default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job large_conversion_jobs;
  v_now timestamptz;
  v_lost integer := cardinality(p_unreadable);
begin
  select * into v_job from large_conversion_jobs where id = p_job_id for no key update;
  if not found or v_job.lease is distinct from p_lease then
    return 'stale';
  end if;
  if v_job.status = 'completed' then
    return 'completed';
  end if;
  if v_job.status <> 'assembling' then
    return 'stale';
  end if;
  perform from files where id = v_job.file_id for no key update;
  if v_lost > 0 and v_lost >= v_job.total_pages then
    perform fail_conversion_job(p_job_id, 'No page of this document could be read. Print it to PDF anew, then upload it again.');
    return 'unreadable';
  end if;
  if settle_hold(p_job_id, case when v_lost > 0 then v_job.total_pages - v_lost end) = 'insufficient' then
    perform fail_conversion_job(p_job_id, 'Not enough credits were left when the result was ready');
    return 'insufficient';
  end if;
  v_now := clock_timestamp();
  update large_conversion_jobs set
    status = 'completed', finished_at = v_now, updated_at = v_now, total_cost_usd = conversion_cost(id)
  where id = p_job_id;
  update files set
    status = 'completed', result_key = p_result_key, done = total, phase = null, error = null,
    unreadable_pages = p_unreadable, has_text = p_has_text, updated_at = v_now
  where id = v_job.file_id and job_id = p_job_id and status = 'chunked_processing';
  return 'completed';
end
$$;

drop function finish_inline(uuid, uuid, text, jsonb);

-- As in 0043; the hold becomes the charge for `p_pages` where they were counted from the result (null: as held). Answers
-- `completed`, `stale` or `insufficient`.
create function finish_inline(
  p_file_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_pages integer default null,
  p_has_text boolean default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  select * into f from files where id = p_file_id for no key update;
  if not found or f.deleted_at is not null then
    return 'stale';
  end if;
  if f.result_key = p_result_key then
    return 'completed';
  end if;
  if f.lease is distinct from p_lease or f.status <> 'processing' then
    return 'stale';
  end if;
  if not widen_hold(f.job_id, p_pages) or settle_hold(f.job_id, p_pages) = 'insufficient' then
    update files set
      status = 'failed', phase = null, error = 'Not enough credits were left when the result was ready',
      updated_at = clock_timestamp()
    where id = f.id;
    perform release_hold(f.job_id, 'failed');
    return 'insufficient';
  end if;
  update files set
    status = 'completed', result_key = p_result_key, phase = null, error = null, pages = coalesce(p_pages, pages),
    total = coalesce(p_pages, total), done = coalesce(p_pages, total), unreadable_pages = '{}', has_text = p_has_text,
    updated_at = clock_timestamp()
  where id = f.id;
  return 'completed';
end
$$;

drop function finish_flyer(uuid, uuid, text, jsonb);

-- As in 0019; the hold becomes the charge for the pages that could be read. Answers `completed`, `stale` or
-- `insufficient`.
create function finish_flyer(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_unreadable integer[] default '{}'
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
      status = 'failed', error = 'Not enough credits were left when the result was ready', updated_at = clock_timestamp()
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

select secure_function(f) from unnest(array[
  'widen_hold(uuid, integer)', 'finish_conversion_job(uuid, uuid, text, integer[], boolean)',
  'finish_inline(uuid, uuid, text, jsonb, integer, boolean)', 'finish_flyer(uuid, uuid, text, jsonb, integer[])'
]::regprocedure[]) as f;
