-- Makes the job of a queued request, with chunks of `p_chunk_pages` pages, as `pending` or `waiting_batch`. False where it
-- is no longer queued (made, or cancelled, meanwhile). Called by the executor on the leader. Lock order: request, job,
-- chunks, file, turn of requests; no holder of the turn waits for the others.
create or replace function create_conversion_job(p_job_id uuid, p_status text, p_chunk_pages integer, p_options jsonb)
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q convert_queue;
  v_pages integer;
  v_chunks integer;
  v_now timestamptz := clock_timestamp();
begin
  delete from convert_queue where job_id = p_job_id returning * into q;
  if not found then
    return false;
  end if;
  select pages into v_pages from files where id = q.file_id;
  v_chunks := (v_pages + p_chunk_pages - 1) / p_chunk_pages;
  insert into large_conversion_jobs (
    id, file_id, customer_id, bulk_id, status, options, total_pages, total_chunks, created_at
  ) values (q.job_id, q.file_id, q.customer_id, q.bulk_id, p_status, p_options, v_pages, v_chunks, v_now);
  insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, customer_id, queued_at)
  select q.job_id, i, i * p_chunk_pages, least((i + 1) * p_chunk_pages, v_pages) - 1, p_status, q.customer_id, v_now
  from generate_series(0, v_chunks - 1) as i;
  perform conversion_progress(q.job_id);
  update work_turns set customer_id = q.customer_id where kind = 'request';
  return true;
end
$$;
