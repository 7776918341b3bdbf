-- Pauses jobs that use a model once models have cost `p_budget_usd` since midnight UTC, and resumes them, with their paused chunks,
-- when they have not; null means no budget (DOC-22). Jobs that use a model: high fidelity, math OCR and the harness model, but not
-- the layout tier (`usesCascade` and `isWholeChunk` in the domain decide the same). A job with batch results continues: they are
-- paid for, and its worker asks for nothing else. Options of another type count as not given. Returns the number of changed jobs.
-- Lock order: jobs by age, then chunks and file of each.
create or replace function apply_model_budget(p_budget_usd numeric) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_spent boolean := p_budget_usd is not null and p_budget_usd <= model_cost_today();
  v_id uuid;
  v_status text;
  v_count integer := 0;
begin
  for v_id, v_status in
    update large_conversion_jobs set
      status = case when status = 'paused_budget' then 'pending' else 'paused_budget' end, updated_at = clock_timestamp()
    where id in (
      select id from large_conversion_jobs
      where (v_spent and status in ('pending', 'processing') and options ->> 'parser' is distinct from 'layout' and (
          options @> '{"highFidelity": true}' or options @> '{"mathOcr": true}' or options @> '{"parser": "harness"}'
        ) and not options @> '{"_batchPrimed": true}')
        or (status = 'paused_budget' and (not v_spent or options @> '{"_batchPrimed": true}'))
      order by created_at, id
      for no key update
    )
    returning id, status
  loop
    if v_status = 'pending' then
      update chunk_jobs set status = 'pending', updated_at = clock_timestamp()
      where job_id = v_id and status = 'paused_budget';
    end if;
    perform conversion_progress(v_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
