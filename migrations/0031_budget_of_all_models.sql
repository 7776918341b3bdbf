-- As in 0024; the harness model and math OCR cost what a model costs without `highFidelity`, and the layout tier nothing with it
-- (`usesCascade` and `isWholeChunk` decide the same). Options that are none of their kind count as not given.
create or replace function apply_model_budget(p_budget_usd numeric) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_spent boolean := p_budget_usd is not null and p_budget_usd <= (
    select coalesce(sum(cost_usd), 0) from cost_ledger
    where created_at >= date_trunc('day', clock_timestamp() at time zone 'utc') at time zone 'utc'
  );
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    update large_conversion_jobs set
      status = case when v_spent then 'paused_budget' else 'pending' end, updated_at = clock_timestamp()
    where id in (
      select id from large_conversion_jobs
      where (v_spent and status in ('pending', 'processing') and options ->> 'parser' is distinct from 'layout' and (
          options @> '{"highFidelity": true}' or options @> '{"mathOcr": true}' or options @> '{"parser": "harness"}'
        ))
        or (not v_spent and status = 'paused_budget')
      order by created_at, id
      for no key update
    )
    returning id
  loop
    if not v_spent then
      update chunk_jobs set status = 'pending', updated_at = clock_timestamp()
      where job_id = v_id and status = 'paused_budget';
    end if;
    perform conversion_progress(v_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

select secure_function('apply_model_budget(numeric)'::regprocedure);
