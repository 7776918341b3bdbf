-- Sets `last_event` and `raw` to the latest event by occurrence. An event without a time counts from now, and is ignored where it
-- is the last one already. Ties are broken by name, descending. Of an event that came both by webhook and in the list, the
-- webhook's account wins: it has the moment and the reason. A step of `record_email_events`.
create or replace function account_for_event(r email_log, e delivery_event) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_received email_account;
  v_listed email_account;
  v_known email_account;
  v_at timestamptz := e.occurred_at;
begin
  if r.accounts is null then
    v_received := row(r.last_event, r.last_event_at, r.raw);
  else
    v_listed := jsonb_populate_record(null::email_account, r.accounts -> 'listed');
    v_received := jsonb_populate_record(null::email_account, nullif(r.accounts -> 'received', 'null'));
  end if;
  v_known := case when e.listed then v_listed else v_received end;
  if v_at is null and v_known.event is distinct from e.event then
    v_at := clock_timestamp();
  end if;
  if (v_at is not null and (
    v_known.event is null or (v_at, e.event collate "C") > (v_known.moment, v_known.event collate "C")
  )) is not true then
    return r;
  end if;
  v_known := row(e.event, v_at, e.raw);
  if e.listed then
    v_listed := v_known;
  else
    v_received := v_known;
  end if;
  v_known := v_received;
  if v_listed.event is not null then
    r.accounts := jsonb_build_object(
      'received', case when v_received.event is not null then to_jsonb(v_received) end, 'listed', to_jsonb(v_listed));
    if v_received.event is null or v_received.event <> v_listed.event
      and (v_listed.moment, v_listed.event collate "C") > (v_received.moment, v_received.event collate "C")
    then
      v_known := v_listed;
    end if;
  end if;
  r.last_event := v_known.event;
  r.last_event_at := v_known.moment;
  r.raw := v_known.raw;
  return r;
end
$$;
