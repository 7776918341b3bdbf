-- Claims what there is to prepare, from one place of `p_take`: `open` are rows that were left `preparing` (by an earlier
-- leader, by this process in an earlier tick, or by any for longer than `p_stuck`), longest ago first; `parked` is the oldest
-- job without a row, which gets its row and keeps its funds for `p_window`; null takes the first of both. Of the parked ones, with
-- a daily budget, only those with pages that, at `p_page_usd` each or what a record has cost lately, fit in what is left of it after
-- the batch jobs that are not billed yet (DOC-22). The same call
-- again returns the same row. `found_open`: its batch job may exist already. `stuck`: its leader lives and did not get it
-- done in `p_stuck`, though the service was not full. `abandoned`: its job waited for `p_give_up`, and that is a day ago (BATCH-15).
--
-- Lock order: an open row alone; a parked job, row, customer, hold.
create or replace function claim_conversion_batch(
  p_lease uuid, p_preparer uuid, p_term bigint, p_model text, p_stuck interval, p_window interval, p_take text default null,
  p_give_up interval default interval '26 hours', p_budget_usd numeric default null, p_page_usd numeric default 0
)
returns table (
  id uuid, job_id uuid, found_open boolean, stuck boolean, close_reason text, input_prefix text, object_key text,
  total_pages integer, model text, abandoned boolean
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  b conversion_batch_jobs;
  v_job uuid;
  v_open boolean := true;
  v_stuck boolean := false;
  v_now timestamptz := clock_timestamp();
begin
  select * into b from conversion_batch_jobs x where x.state = 'preparing' and x.lease = p_lease;
  if not found and p_take is distinct from 'parked' then
    select * into b from conversion_batch_jobs x
    where x.state = 'preparing'
      and (x.term < p_term or x.preparer = p_preparer or least(x.prepare_started_at, x.created_at) < v_now - p_stuck)
    order by x.claimed_at
    limit 1
    for no key update skip locked;
    if found then
      v_stuck := (b.term is null or b.term >= p_term)
        and greatest(least(b.prepare_started_at, b.created_at), b.full_at) < v_now - p_stuck;
      update conversion_batch_jobs x set
        lease = p_lease, preparer = p_preparer, prepares = x.prepares + 1, claimed_at = v_now, term = p_term,
        prepare_started_at = case when x.term < p_term then v_now else x.prepare_started_at end
      where x.id = b.id
      returning * into b;
    end if;
  end if;
  if b.id is null and p_take is distinct from 'open' then
    v_open := false;
    if p_budget_usd is null then
      select n.id into v_job from next_unclaimed_batch_job() n;
    else
      select n.id into v_job from next_batch_job_within(p_budget_usd, p_page_usd) n;
    end if;
    perform from large_conversion_jobs j where j.id = v_job and j.status = 'waiting_batch' for no key update;
    if not found then
      return;
    end if;
    insert into conversion_batch_jobs (job_id, lease, preparer, term, model, prepares)
    values (v_job, p_lease, p_preparer, p_term, p_model, 1)
    on conflict (job_id) do nothing
    returning * into b;
    if b.id is not null then
      perform refresh_hold(v_job, p_window);
    end if;
  end if;
  return query
    select b.id, b.job_id, v_open, v_stuck, b.close_reason, b.input_prefix, f.object_key, j.total_pages, b.model,
      j.created_at < v_now - p_give_up - interval '1 day'
    from large_conversion_jobs j join files f on f.id = j.file_id
    where j.id = b.job_id;
end
$$;
