-- Writes acceptances that nothing is known of, all of them or, where one has a row, none: false then. A step of `record_email_sends`.
create or replace function insert_new_rows(p_entries email_log_row[]) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if (select count(*) from insert_email_rows(p_entries)) < cardinality(p_entries) then
    raise unique_violation;
  end if;
  return true;
exception
  when unique_violation then return false;
end
$$;
