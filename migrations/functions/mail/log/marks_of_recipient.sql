-- Suppression marks for events that came before the recipients were known: for the one recipient of the attempt, if it has exactly
-- one. A step of `record_email_sends`.
create or replace function marks_of_recipient(r email_log, e email_log_row) returns text[]
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if r.suppression_marks = '{}' or email_distinct_count(e.to_addresses || e.other_addresses) <> 1 then
    return '{}';
  end if;
  return array(
    select x.mark || (e.to_addresses || e.other_addresses)[1] from unnest(r.suppression_marks) as x(mark)
    where x.mark like '%:'
  );
end
$$;
