-- Removes an erased person from an event about their mail, so that a late event does not bring the person back (P3).
create or replace function event_without_person(e delivery_event, r email_log) returns delivery_event
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  e.raw := null;
  e.reason := error_without_person(e.reason);
  e.subject := null;
  e.recipients := erased_names(e.recipients, r);
  e.suppress := erased_names(e.suppress, r);
  return e;
end
$$;
