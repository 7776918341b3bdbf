-- Folds a send's events into its row, on top of what the library recorded.
create or replace function refresh_email_send(p_id uuid) returns void
language sql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  update email_sends s set
    status = case when campaign_send_rank(x.furthest) > campaign_send_rank(s.status) then x.furthest else s.status end,
    sent_at = least(s.sent_at, x.sent_at),
    delivered_at = x.delivered_at,
    opened_at = x.opened_at,
    clicked_at = x.clicked_at,
    bounced_at = x.bounced_at,
    complained_at = x.complained_at,
    open_count = x.open_count,
    click_count = x.click_count,
    updated_at = now()
  from (
    select
      (array_agg(e.event order by campaign_send_rank(e.event) desc))[1] as furthest,
      min(e.occurred_at) filter (where e.event = 'sent') as sent_at,
      min(e.occurred_at) filter (where e.event = 'delivered') as delivered_at,
      min(e.occurred_at) filter (where e.event = 'opened') as opened_at,
      min(e.occurred_at) filter (where e.event = 'clicked') as clicked_at,
      min(e.occurred_at) filter (where e.event = 'bounced') as bounced_at,
      min(e.occurred_at) filter (where e.event = 'complained') as complained_at,
      count(*) filter (where e.event = 'opened') as open_count,
      count(*) filter (where e.event = 'clicked') as click_count
    from email_send_events e
    where e.provider_message_id = (select i.provider_message_id from email_sends i where i.id = p_id)
  ) as x
  where s.id = p_id
$$;
