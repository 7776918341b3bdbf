-- Claims a chunk (`claim_in_turn`). Stale ones come back by orphan recovery. The same call again returns the same chunk. Lock
-- order: turn, job, chunk, file.
create or replace function claim_chunk(
  p_lease uuid, p_worker text, p_per_owner integer default null, p_primed boolean default true
)
returns table (
  id uuid, job_id uuid, chunk_index integer, first_page integer, last_page integer, attempts integer, file_id uuid,
  object_key text, options jsonb, total_pages integer
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_chunk uuid;
begin
  select c.id into v_chunk from chunk_jobs c where c.status = 'processing' and c.lease = p_lease;
  v_chunk := coalesce(v_chunk, claim_in_turn('chunk', p_lease, p_worker, p_per_owner, p_primed));
  return query select * from claimed_chunk(v_chunk) where v_chunk is not null;
end
$$;
