-- Takes the locks of subjects until the transaction ends, in one order for all callers: a mail has several rows, and no other lock in
-- common, so that without it an event could become visible before an earlier one.
create or replace function lock_hook_subjects(p_subjects text[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_lock bigint;
begin
  for v_lock in
    select distinct hashtextextended('postlane.hook_subject ' || x.subject, 0) from unnest(p_subjects) as x(subject) order by 1
  loop
    perform pg_advisory_xact_lock(v_lock);
  end loop;
end
$$;
