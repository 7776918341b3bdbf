-- Closes a batch row, from `preparing` with its lease, from `submitted` without one, and books the one ledger entry of the
-- batch job (null: it returned nothing) in the same transaction (B2). Only the call that closes it returns true. The cost is
-- noted on the job, whatever became of that meanwhile. Lock order: job, batch row.
create or replace function end_conversion_batch_row(
  p_id uuid, p_lease uuid, p_outcome text, p_reason text, p_end_state text, p_accepted integer, p_fallback integer,
  p_cost jsonb
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  select job_id into v_job from conversion_batch_jobs where id = p_id;
  perform from large_conversion_jobs where id = v_job for no key update;
  update conversion_batch_jobs set
    state = 'closed', outcome = p_outcome, close_reason = coalesce(close_reason, p_reason), end_state = p_end_state,
    accepted = p_accepted, fallback = p_fallback, closed_at = clock_timestamp(),
    input_tokens = coalesce((p_cost ->> 'input_tokens')::bigint, 0),
    output_tokens = coalesce((p_cost ->> 'output_tokens')::bigint, 0),
    cost_usd = coalesce((p_cost ->> 'cost_usd')::numeric, 0)
  where id = p_id and (
    (p_lease is null and state = 'submitted') or (state = 'preparing' and lease = p_lease)
  );
  if not found then
    return false;
  end if;
  if p_cost is not null then
    update large_conversion_jobs set
      options = options || jsonb_build_object('_batchCostUsd', (p_cost ->> 'cost_usd')::numeric)
    where id = v_job;
    perform book_costs(jsonb_build_array(p_cost));
  end if;
  return true;
end
$$;
