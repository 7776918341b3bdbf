-- Status, error, the claim of the row's one alert (A1) and what the row lacks, by an event. Status only moves forward, never out of a terminal one (L2). `error` is the reason
-- of the failure that moved it, also where that event gave none (the list never does) and a later account of it brings the reason. A
-- `bounce_transient` moves nothing, and is the end of the mail: its reason is the error of a row that was not delivered. Of one that was,
-- it is an automatic reply, unless somebody else of several recipients did not get it (EVENT-16). A step of `record_email_events`.
create or replace function move_row_by_event(r email_log, e delivery_event) returns email_log
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_rank integer := email_status_rank(r.status);
  v_delivered integer := email_status_rank('delivered');
  -- Only the library's row knows all recipients; one that events made keeps the error until then.
  v_single boolean := coalesce(r.outcome is not null and r.recipient_count < 2, false);
begin
  if r.outcome is null then
    r.from_address := coalesce(r.from_address, e.from_address);
    r.subject := coalesce(r.subject, e.subject);
    r.to_addresses := case when r.to_addresses = '{}' then e.recipients else r.to_addresses end;
    r.key_tag := coalesce(r.key_tag, e.key_tag);
  end if;
  if e.rank > v_rank then
    r.status := e.event;
    if e.rank = 100 then
      r.error := e.reason;
    elsif e.rank >= v_delivered and v_single then
      r.error := null;
    end if;
  elsif e.rank = 100 and r.status = e.event and r.error is null then
    r.error := e.reason;
  elsif e.event = 'bounce_transient' and coalesce(r.error, 'not delivered') = 'not delivered'
    and v_rank < (case when v_single then v_delivered else 100 end)
  then
    r.error := coalesce(e.reason, 'not delivered');
  end if;
  if e.rank = 100 and e.alertable and r.alerted_at is null then
    r.alerted_at := now();
  end if;
  return r;
end
$$;
