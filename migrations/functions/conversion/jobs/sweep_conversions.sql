-- Repairs what a crash between two transactions could have left (C3, C4, X1): a file that shows converting without a live
-- job is as its job ended; a hold of a job that has ended is released; what waits or is under way – a request, a job, a document, a flyer, a mail – keeps
-- its funds. Returns how many. Lock order: files, then customers and holds by customer.
create or replace function sweep_conversions(p_window interval, p_stale interval) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  r record;
  v_count integer := 0;
begin
  for r in
    select f.id, f.job_id, j.status, j.error from files f
    left join large_conversion_jobs j on j.id = f.job_id
    where f.status = 'chunked_processing' and f.deleted_at is null and f.updated_at < (select clock_timestamp()) - p_stale
      and (j.id is null or j.status in ('completed', 'failed', 'cancelled'))
      and not exists (select from convert_queue q where q.job_id = f.job_id)
    -- In the order of the index of what is under way: another one would hold all files.
    order by f.updated_at
  loop
    update files set
      status = case when r.status is null or r.status = 'cancelled' then 'uploaded' else 'failed' end,
      error = r.error, phase = null, updated_at = clock_timestamp()
    where id = r.id and job_id is not distinct from r.job_id and status = 'chunked_processing';
    if found then
      v_count := v_count + 1;
    end if;
  end loop;
  for r in
    select h.job_id, j.status from funds_holds h
    left join large_conversion_jobs j on j.id = h.job_id
    where h.state = 'held' and (
      j.status in ('failed', 'cancelled')
      or (h.expires_at < clock_timestamp() + p_window / 2 and (
        j.status in ('pending', 'waiting_batch', 'processing', 'paused_budget', 'assembling')
        or exists (select from convert_queue q where q.job_id = h.job_id)
        or exists (
          select from files f
          where f.customer_id = h.customer_id and f.job_id = h.job_id and f.status = 'processing' and f.deleted_at is null
        )
        or exists (select from flyer_jobs x where x.id = h.job_id and x.status in ('pending', 'processing'))
        or exists (select from intake_mails m where m.id = h.job_id and m.step = 'converting')
      ))
    )
    order by h.customer_id
  loop
    if r.status in ('failed', 'cancelled') then
      v_count := v_count + release_hold(r.job_id, r.status)::integer;
    else
      perform refresh_hold(r.job_id, p_window);
    end if;
  end loop;
  return v_count;
end
$$;
