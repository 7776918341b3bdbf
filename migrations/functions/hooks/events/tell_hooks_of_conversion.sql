-- Writes the end of a conversion for the hooks: a job, a file that is converted in one piece, or a flyer.
create or replace function tell_hooks_of_conversion() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_row jsonb;
  v_file uuid;
  v_job uuid;
begin
  if not any_event_hook() then
    return null;
  end if;
  v_row := to_jsonb(new);
  v_file := case tg_table_name when 'files' then v_row ->> 'id' else v_row ->> 'file_id' end;
  v_job := case tg_table_name when 'files' then v_row ->> 'job_id' else v_row ->> 'id' end;
  perform tell_hooks('conversion.' || new.status, 'document:' || v_file, clock_timestamp(), jsonb_build_object(
    'fileId', v_file,
    'jobId', v_job,
    'status', new.status,
    'pages', coalesce((v_row ->> 'total_pages')::integer, (select f.pages from files f where f.id = v_file)),
    'credits', coalesce((select c.credits from credit_charges c where c.job_id = v_job), 0),
    'error', new.error
  ));
  return null;
end
$$;
