-- How an item of a bulk order ended: `completed`, `failed` or `cancelled`; null while it is under way. What is converted
-- inline has no job: its hold has the answer.
create or replace function bulk_outcome(p_file_id uuid, p_job_id uuid) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case
    when j.status in ('completed', 'failed', 'cancelled') then j.status
    when j.id is not null or exists (select from convert_queue q where q.job_id = p_job_id) then null
    when h.state = 'settled' then 'completed'
    when h.state = 'released' then case when h.outcome = 'cancelled' then 'cancelled' else 'failed' end
    when (
      -- By the id alone: as conditions, the others would suggest an index of what is under way.
      select f.job_id = p_job_id and f.deleted_at is null and f.status = 'processing' from files f where f.id = p_file_id
    ) then null
    else 'failed'
  end
  from (select 1) as one
  left join large_conversion_jobs j on j.id = p_job_id
  left join funds_holds h on h.job_id = p_job_id
$$;
