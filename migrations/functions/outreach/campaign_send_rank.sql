-- How far a campaign send is; the greater rank stands, whatever the order of events. Equals `CAMPAIGN_SEND_STATUSES` in the
-- domain.
create or replace function campaign_send_rank(p_status text) returns integer
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select array_position(
    array['queued', 'deferred', 'sent', 'delivery_delayed', 'delivered', 'opened', 'clicked', 'suppressed', 'failed',
      'bounced', 'complained'],
    p_status)
$$;
