-- Folds one delivery event into the send log: `record_email_events` for one event. For callers in SQL.
create or replace function record_email_event(
  p_provider text,
  p_provider_message_id text,
  p_event text,
  p_occurred_at timestamptz default null,
  p_recipients text[] default null,
  p_subject text default null,
  p_from text default null,
  p_reason text default null,
  p_raw jsonb default null,
  p_key_tag text default null,
  p_bounce_type text default null,
  p_suppress text[] default null,
  p_alertable boolean default true,
  p_backfill boolean default false
)
returns table (send_id uuid, status text, alert boolean)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.send_id, x.status, x.alert
  from record_email_events(jsonb_build_array(jsonb_build_object(
    'provider', p_provider,
    'provider_message_id', p_provider_message_id,
    'event', p_event,
    'occurred_at', p_occurred_at,
    'recipients', to_jsonb(p_recipients),
    'subject', p_subject,
    'from', p_from,
    'reason', p_reason,
    'raw', p_raw,
    'key_tag', p_key_tag,
    'bounce_type', p_bounce_type,
    'suppress', to_jsonb(p_suppress),
    'alertable', p_alertable,
    'backfill', p_backfill
  ))) as x
$$;
