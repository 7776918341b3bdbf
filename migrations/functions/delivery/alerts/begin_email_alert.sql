-- Keeps what a row's one alert is about until it is confirmed. A step of `record_email_events`, which has claimed the alert.
create or replace function begin_email_alert(r email_log, e delivery_event) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into email_alerts (send_id, due_at, details) values (
    r.id,
    clock_timestamp() + email_alert_lease(),
    jsonb_build_object(
      'provider', e.provider,
      'providerMessageId', e.provider_message_id,
      'event', e.event,
      'recipients', to_jsonb(coalesce(e.suppress, e.recipients)),
      'subject', e.subject,
      'category', coalesce(nullif(r.category, 'unknown'), e.category),
      'source', r.source,
      'reason', e.reason,
      'occurredAt', to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    )
  )
  on conflict (send_id) do update set
    due_at = excluded.due_at, details = excluded.details, attempts = email_alerts.attempts + 1;
end
$$;
