-- The records are uploaded, for this model at these prices. False: another preparer has the row now.
create or replace function batch_records_uploaded(
  p_id uuid, p_lease uuid, p_input_prefix text, p_records integer, p_shards integer, p_bytes bigint, p_model text default null,
  p_input_usd_per_mtok numeric default null, p_output_usd_per_mtok numeric default null
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update conversion_batch_jobs set
    input_prefix = p_input_prefix, records = p_records, shards = p_shards, input_bytes = p_bytes,
    model = coalesce(p_model, model), input_usd_per_mtok = p_input_usd_per_mtok, output_usd_per_mtok = p_output_usd_per_mtok,
    uploaded_at = clock_timestamp()
  where id = p_id and state = 'preparing' and lease = p_lease;
  return found;
end
$$;
