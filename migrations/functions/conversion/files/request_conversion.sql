-- Requests a conversion (DOC-10): the file turns to converting, funds are set aside and the queue `convert` holds the
-- request, all or nothing. Returns `queued`, `not_found`, `active` (another one is under way) or `insufficient`. The same
-- call again returns `queued`. A comped one (options `_compedFlyerJobId`) sets no funds aside. Lock order: file, customer,
-- hold.
create or replace function request_conversion(
  p_job_id uuid, p_file_id uuid, p_customer_id uuid, p_options jsonb, p_window interval, p_bulk_id uuid default null
) returns text
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
  -- Another conversion may have followed the one that was asked for.
  if f.job_id = p_job_id or exists (select from funds_holds where job_id = p_job_id) then
    return 'queued';
  end if;
  if f.status in ('processing', 'chunked_processing')
    or exists (select from flyer_jobs x where x.file_id = f.id and x.status in ('pending', 'processing')) then
    return 'active';
  end if;
  if not (p_options ? '_compedFlyerJobId') and not place_hold(p_customer_id, p_job_id, f.pages, p_window) then
    return 'insufficient';
  end if;
  update files set
    status = case when kind = 'pdf' then 'chunked_processing' else 'processing' end,
    phase = 'Queued', job_id = p_job_id, options = p_options, done = 0, total = pages, error = null, lease = null, heartbeat_at = null,
    attempts = 0, updated_at = clock_timestamp()
  where id = f.id;
  if f.kind = 'pdf' then
    insert into convert_queue (job_id, file_id, customer_id, options, bulk_id)
    values (p_job_id, p_file_id, p_customer_id, p_options, p_bulk_id);
  end if;
  return 'queued';
end
$$;
