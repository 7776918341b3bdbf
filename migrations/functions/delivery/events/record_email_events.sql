-- Folds delivery events into the send log, several in one call (EVENT-10 to EVENT-14); `ordinal` counts the events from 1.
-- Called by `DeliveryLog`, for webhooks and the poll. Keys of an event are the parameters of `record_email_event` without
-- `p_`, `category` (from the event's tags) and `listed` (the event is what the provider's list says of the mail, seen at
-- `occurred_at`). For each event:
--
-- * Its mail's row is locked or made, at its place in the order (`lock_row_of_event`), and gets status and error
--   (`move_row_by_event`), the latest account (`account_for_event`) and suppressions (`suppression_marks_of_event`).
-- * `alert` says that this call claimed the row's one alert (A1): the first provider-reported failure, unless `alertable`
--   is false. What the alert is about stays in `email_alerts` until it is confirmed, with the row's category and source,
--   which are returned too; where the library did not write the row, the category is the event's. With `backfill`, an
--   event that makes its row keeps that claim without an alert (EVENT-32).
-- * An event that comes again changes nothing (L3). Each other one is kept as it came (`keep_email_events`).
--
-- Lock order: keys, rows by (provider, provider_message_id), suppressions. The settings: rows are found by the indexes, whatever the
-- statistics say of a log that grew quickly; with the ones from before there were rows each event would read all of them.
create or replace function record_email_events(p_events jsonb)
returns table (
  ordinal integer, send_id uuid, status text, alert boolean, backfilled boolean, category text, source text
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  e delivery_event;
  r email_log;
  -- The stored state of `r`.
  v_before email_log;
  v_new boolean;
  -- `r` is the row of this event's mail already.
  v_same boolean;
  -- `r` has changes that are to be written at the end.
  v_unwritten boolean := false;
  v_rows email_log[] := '{}';
  v_events email_events[] := '{}';
  v_number integer := 0;
  v_marks text[];
  v_suppress text[] := '{}';
begin
  -- Before any other lock, as there: an erasure neither misses the row of an event nor parts it from its suppression.
  perform pg_advisory_xact_lock_shared(email_key_lock('erase_person'));
  if p_events @? '$[*].key_tag ? (@ != null)' then
    perform lock_keys_of_events(p_events);
  end if;

  for e in select * from delivery_events_of(p_events)
  loop
    if e.provider is null or coalesce(e.provider_message_id, '') = '' or e.event is null then
      raise exception 'a delivery event needs provider, provider_message_id and event' using errcode = '22004';
    end if;
    v_same := coalesce(r.provider = e.provider and r.provider_message_id = e.provider_message_id, false);
    if v_unwritten and not v_same then
      v_rows := v_rows || r;
      v_unwritten := false;
    end if;
    v_number := case when v_same then v_number + 1 else 1 end;

    loop
      if not v_same then
        r := lock_row_of_event(e);
      end if;
      v_new := not v_same and r.created_at is null;
      v_before := r;
      if array_to_string(r.to_addresses || r.other_addresses || r.dropped_addresses, ',') like '%erased:%' then
        e := event_without_person(e, r);
      end if;
      r := move_row_by_event(r, e);
      r := account_for_event(r, e);
      v_marks := case when e.suppression is null then '{}' else suppression_marks_of_event(r, e) end;
      r.suppression_marks := r.suppression_marks || v_marks;
      exit when not v_new or insert_row_of_event(r);
    end loop;
    v_unwritten := v_unwritten or (not v_new and r *<> v_before);
    v_events := v_events
      || row(r.id, v_number, e.event, e.occurred_at, e.listed, e.raw, coalesce(pg_column_size(e.raw), 0))::email_events;
    alert := r.alerted_at is distinct from v_before.alerted_at;
    if alert then
      perform begin_email_alert(r, e);
    end if;
    v_suppress := v_suppress || array(select x.mark from unnest(v_marks) as x(mark) where x.mark not like '%:');

    ordinal := e.ordinal;
    send_id := r.id;
    status := r.status;
    backfilled := v_new and e.backfill;
    category := coalesce(nullif(r.category, 'unknown'), e.category);
    source := r.source;
    return next;
  end loop;

  if v_unwritten then
    v_rows := v_rows || r;
  end if;
  if v_rows <> '{}' then
    perform update_rows_of_events(v_rows);
  end if;
  perform keep_email_events(v_events);
  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'delivery event');
  end if;
end
$$;
