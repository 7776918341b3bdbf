-- An event of a mail, ready for the hooks. A mail that only events know waits for its row for a minute since its first event. Null where
-- the event goes to no hook.
create or replace function hook_event_of_mail(r email_log, e delivery_event) returns hook_event
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_type text := hook_type_of_event(e.event, r.outcome);
  v_occurred timestamptz := coalesce(e.occurred_at, clock_timestamp());
  v_early boolean := r.outcome is null;
begin
  if v_type is null then
    return null;
  end if;
  return row(
    v_type,
    hook_subject_of_mail(r),
    v_occurred,
    hook_data_of_mail(r, v_occurred, e.reason)
      || case when v_type = 'email.bounced' then jsonb_build_object('permanent', e.event = 'bounced') else '{}' end,
    case when v_early then r.id end,
    case when v_early then coalesce(r.created_at, clock_timestamp()) + interval '1 minute' end
  )::hook_event;
end
$$;
