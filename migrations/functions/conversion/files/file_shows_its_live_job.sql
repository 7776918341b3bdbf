-- A live job is its file's conversion, whether or not the file says so: a file that has no other shows this one (C3).
create or replace function file_shows_its_live_job() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update files set
    job_id = new.id, status = 'chunked_processing', done = 0, total = pages, error = null, updated_at = clock_timestamp()
  where id = new.file_id and job_id is distinct from new.id and deleted_at is null
    and status in ('uploaded', 'completed', 'failed');
  if found then
    perform conversion_progress(new.id);
  end if;
  return null;
end
$$;
