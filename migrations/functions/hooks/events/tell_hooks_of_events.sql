-- Writes delivery events for the hooks. A step of `keep_email_events`.
create or replace function tell_hooks_of_events(p_events hook_event[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if cardinality(p_events) > 0 then
    perform lock_hook_subjects(array(select x.subject from unnest(p_events) as x));
    perform write_hook_deliveries(p_events);
  end if;
end
$$;
