-- Folds the events of one mail into its row, which its caller has locked or will write, and says what became of each. A step of
-- `record_email_events`.
create or replace function fold_events_of_mail(
  p_row email_log, p_events delivery_event[], p_hooked boolean, out r email_log, out recorded recorded_event[]
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  e delivery_event;
  v_alerted timestamptz;
  v_alert boolean;
  v_marks text[];
  v_number integer := 0;
begin
  r := p_row;
  recorded := '{}';
  foreach e in array p_events
  loop
    if e.provider is null or coalesce(e.provider_message_id, '') = '' or e.event is null then
      raise exception 'a delivery event needs provider, provider_message_id and event' using errcode = '22004';
    end if;
    if array_to_string(r.to_addresses || r.other_addresses || r.dropped_addresses, ',') like '%erased:%' then
      e := event_without_person(e, r);
    end if;
    v_alerted := r.alerted_at;
    r := move_row_by_event(r, e);
    r := account_for_event(r, e);
    v_marks := '{}';
    if e.suppression is not null then
      v_marks := suppression_marks_of_event(r, e);
      r.suppression_marks := r.suppression_marks || v_marks;
    end if;
    v_alert := r.alerted_at is distinct from v_alerted;
    if v_alert then
      perform begin_email_alert(r, e);
    end if;
    v_number := v_number + 1;
    recorded := recorded || row(
      e.ordinal, r.status, v_alert, r.created_at is null and v_number = 1 and e.backfill,
      coalesce(nullif(r.category, 'unknown'), e.category), r.source,
      v_marks,
      row(r.id, v_number, e.event, e.occurred_at, e.listed, e.raw, coalesce(pg_column_size(e.raw), 0))::email_events,
      case when p_hooked then hook_event_of_mail(r, e) end
    )::recorded_event;
  end loop;
end
$$;
