-- Books one delivery event of a campaign send; false where it was booked before, which changes nothing. Called by
-- `CampaignBook`. The row is the one of the message id, else the one that the event's tag names, else a new one. Events
-- that say nothing about a campaign (a bounce that may pass, an unknown one) are left out. Each event marks prospects and
-- unsubscribes once, so that one that comes again does not undo what somebody corrected by hand.
--
-- Keys: provider_message_id, event, occurred_at, event_id, send_id, campaign, subject, recipients, affected (the recipients
-- that a bounce or complaint is about).
--
-- Lock order: message, send, prospects by address, unsubscribes by address.
create or replace function record_campaign_event(p_event jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  e record;
  v_send uuid;
  v_prospect uuid;
  v_at timestamptz;
  v_recipients text[];
begin
  select * into e from jsonb_to_record(p_event) as x(
    provider_message_id text, event text, occurred_at timestamptz, event_id text, send_id uuid, campaign text,
    subject text, recipients jsonb, affected jsonb);
  if coalesce(e.provider_message_id, '') = '' or e.event is null then
    raise exception 'a campaign event needs provider_message_id and event' using errcode = '22004';
  end if;
  if e.event not in ('sent', 'delivery_delayed', 'delivered', 'opened', 'clicked', 'failed', 'bounced', 'complained') then
    return false;
  end if;
  v_at := coalesce(e.occurred_at, clock_timestamp());
  v_recipients := email_addresses(e.recipients);

  perform pg_advisory_xact_lock(campaign_message_lock(e.provider_message_id));
  select s.id into v_send from email_sends s where s.provider_message_id = e.provider_message_id;
  if v_send is null and e.send_id is not null then
    update email_sends s set provider_message_id = e.provider_message_id
    where s.id = e.send_id and s.provider_message_id is null
    returning s.id into v_send;
  end if;

  insert into email_send_events (provider_message_id, identity, event, occurred_at)
  values (
    e.provider_message_id,
    e.event || '|' || coalesce(to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), e.event_id, ''),
    e.event,
    v_at)
  on conflict do nothing;
  if not found then
    return false;
  end if;

  if v_send is null then
    if email_distinct_count(v_recipients) = 1 then
      perform mark_prospects(v_recipients, 'active');
      select p.id into v_prospect from prospects p where p.email = lower_address(v_recipients[1]);
    end if;
    insert into email_sends (prospect_id, campaign, subject, provider_message_id)
    values (v_prospect, e.campaign, e.subject, e.provider_message_id)
    returning id into v_send;
  end if;
  perform refresh_email_send(v_send);

  perform mark_people_of_campaign_event(e.event, v_send, v_at, email_addresses(e.affected));
  return true;
end
$$;
