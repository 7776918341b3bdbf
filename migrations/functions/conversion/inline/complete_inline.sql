-- Stores the result: the file is completed and the hold becomes the charge, for `p_pages` where they were counted from the result
-- (null: as held; R2). Returns `insufficient` where there are no funds for them: then the file has failed, with the sentence of
-- `p_reasons` for this code. A worker may repeat the call after a lost answer, when the file is already being converted again under
-- another lease: a result that the file shows was accepted (R1). Lock order: file, customer, hold.
create or replace function complete_inline(
  p_id uuid, p_lease uuid, p_result_key text, p_costs jsonb, p_pages integer default null, p_has_text boolean default null,
  p_no_model integer[] default '{}', p_made jsonb default null, p_reasons jsonb default '{}'
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  perform book_costs(p_costs);
  select * into f from files where id = p_id for no key update;
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
      status = 'failed', phase = null, error = coalesce(p_reasons ->> 'insufficient', 'insufficient'),
      updated_at = clock_timestamp()
    where id = p_id;
    perform release_hold(f.job_id, 'failed');
    return 'insufficient';
  end if;
  update files set
    status = 'completed', result_key = p_result_key, phase = null, error = null, pages = coalesce(p_pages, pages),
    total = coalesce(p_pages, total), done = coalesce(p_pages, total), unreadable_pages = '{}', no_model_pages = p_no_model,
    has_text = p_has_text, made = p_made, made_at = clock_timestamp(), updated_at = clock_timestamp()
  where id = p_id;
  return 'completed';
end
$$;
