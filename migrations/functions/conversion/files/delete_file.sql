-- Deletes a file (DOC-4, X2): a live conversion is cancelled first. Returns `deleted`, `not_found`, or `finishing` while its result is
-- being assembled. The objects are removed by housekeeping.
--
-- Lock order: as `cancel_conversion_job`, then file, flyer jobs, customer, hold. An update that waited for a row which then
-- no longer qualifies keeps it locked: a file that was being deleted when another conversion of it was requested would be
-- held while the next round waited for that conversion's job, the other way round from everybody else. Each round is rolled
-- back with its locks before the next one begins.
create or replace function delete_file(p_file_id uuid, p_customer_id uuid, p_reasons jsonb default '{}') returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_job uuid;
begin
  loop
    select job_id into v_job from files where id = p_file_id and customer_id = p_customer_id and deleted_at is null;
    if not found then
      return 'not_found';
    end if;
    begin
      if v_job is not null and cancel_conversion_job(v_job, false) = 'finishing' then
        return 'finishing';
      end if;
      update files set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), name = '', left_out = null, reference = null
      where id = p_file_id and deleted_at is null and job_id is not distinct from v_job;
      if found then
        exit;
      end if;
      -- It was deleted, or another conversion of it was requested, at the same moment.
      raise exception using errcode = 'PL001', message = 'the file changed';
    exception when sqlstate 'PL001' then
      null;
    end;
  end loop;
  perform cancel_flyer_jobs_for_file(p_file_id, coalesce(p_reasons ->> 'file_deleted', 'file_deleted'));
  perform release_hold(v_job, 'cancelled');
  delete from file_shares where file_id = p_file_id;
  return 'deleted';
end
$$;
