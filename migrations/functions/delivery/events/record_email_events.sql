-- Folds delivery events into the send log, several in one call (EVENT-10 to EVENT-14); `ordinal` counts the events from 1.
-- Called by `DeliveryLog`, for webhooks and the poll. Keys of an event are the parameters of `record_email_event` without
-- `p_`, `category` (from the event's tags) and `listed` (the event is what the provider's list says of the mail, seen at
-- `occurred_at`). For each event:
--
-- * Its mail's row is locked or made, at its place in the order (`write_rows_of_events`), and gets status and error
--   (`move_row_by_event`), the latest account (`account_for_event`) and suppressions (`suppression_marks_of_event`).
-- * `alert` says that this call claimed the row's one alert (A1): the first provider-reported failure, unless `alertable`
--   is false. What the alert is about stays in `email_alerts` until it is confirmed, with the row's category and source,
--   which are returned too; where the library did not write the row, the category is the event's. With `backfill`, an
--   event that makes its row keeps that claim without an alert (EVENT-32).
-- * An event that comes again changes nothing (L3). Each other one is kept as it came (`keep_email_events`), and goes to event hooks,
--   whether or not it moved the status.
--
-- Lock order: keys, rows by (provider, provider_message_id), suppressions, subjects of hooks. The settings: rows are found by the indexes, whatever the
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
  v_hooked boolean := any_event_hook();
  v_tagged boolean := p_events @? '$[*].key_tag ? (@ != null)';
  v_mails events_of_mail[];
  m events_of_mail;
  v_recorded recorded_event[] := '{}';
  v_kept email_events[];
  v_adopted hook_event[] := '{}';
  v_for_hooks hook_event[];
  v_marked boolean;
begin
  -- Before any other lock, as there: an erasure neither misses the row of an event nor parts it from its suppression.
  perform pg_advisory_xact_lock_shared(email_key_lock('erase_person'));
  if v_tagged then
    perform lock_keys_of_events(p_events);
  end if;
  v_mails := array(
    select row(e.provider, e.provider_message_id, array_agg(e order by e.ordinal))::events_of_mail
    from delivery_events_of(p_events) as e
    group by e.provider, e.provider_message_id
    order by e.provider collate "C", e.provider_message_id collate "C"
  );
  if v_tagged and exists (select from unnest(v_mails) as x where (
    select true from email_log l
    where l.key_tag = x.events[1].key_tag and l.outcome is distinct from 'sent' and l.status = 'deferred'
      and l.provider_message_id is null
    limit 1
  )) then
    -- A deferral's row is locked at the place of the mail that it becomes.
    foreach m in array v_mails
    loop
      v_adopted := v_adopted || array(select x from adopt_deferral_of_event(m.events[1]) as x where x.type is not null);
      v_recorded := v_recorded || write_rows_of_events(array[m], v_hooked);
    end loop;
  elsif v_mails <> '{}' then
    v_recorded := write_rows_of_events(v_mails, v_hooked);
  end if;

  select array_agg(x.kept), array_agg(x.for_hooks), bool_or(x.marks <> '{}') into v_kept, v_for_hooks, v_marked
  from unnest(v_recorded) as x;
  if v_marked then
    perform add_email_suppressions(
      array(select y.mark from unnest(v_recorded) as x, unnest(x.marks) as y(mark) where y.mark not like '%:'), 'delivery event');
  end if;
  perform keep_email_events(v_kept, case when v_hooked then v_for_hooks end, v_adopted);
  return query
    select x.ordinal, (x.kept).send_id, x.status, x.alert, x.backfilled, x.category, x.source from unnest(v_recorded) as x;
end
$$;
