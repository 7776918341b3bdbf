-- Books model costs; an entry with a known id is not booked twice, but grows with what its attempt has cost so far. Keys of an entry:
-- id, job_id, chunk_id, source, backend, model, input_tokens, output_tokens, cost_usd, metadata. A job that has ended gets a new
-- total. Called with the answers of workers, by `ConversionStore` and by `BatchStore`.
create or replace function book_costs(p_entries jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  -- A job that ends at the same time sees these costs, or is seen to have ended.
  perform from large_conversion_jobs
  where id = any (array(select (x ->> 'job_id')::uuid from jsonb_array_elements(p_entries) as x))
  order by id
  for no key update;
  insert into cost_ledger as l (id, job_id, chunk_id, source, backend, model, input_tokens, output_tokens, cost_usd, metadata)
  select
    e.id, e.job_id, e.chunk_id, e.source, e.backend, e.model, coalesce(e.input_tokens, 0), coalesce(e.output_tokens, 0),
    coalesce(e.cost_usd, 0), coalesce(e.metadata, '{}')
  from jsonb_to_recordset(p_entries) as e(
    id uuid, job_id uuid, chunk_id uuid, source text, backend text, model text, input_tokens bigint,
    output_tokens bigint, cost_usd numeric, metadata jsonb
  )
  on conflict (id) do update set
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cost_usd = excluded.cost_usd,
    metadata = excluded.metadata
  where l.input_tokens + l.output_tokens < excluded.input_tokens + excluded.output_tokens;
  update large_conversion_jobs j set total_cost_usd = conversion_cost(j.id)
  where j.id = any (array(select (x ->> 'job_id')::uuid from jsonb_array_elements(p_entries) as x))
    and j.status in ('completed', 'failed', 'cancelled');
end
$$;
