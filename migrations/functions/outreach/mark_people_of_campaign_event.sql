-- Writes down what an event of a campaign send says of people: when a prospect was last written to, which addresses are dead, and who
-- complained and gets no more. `p_affected`: the recipients that a bounce or complaint is about. A step of `record_campaign_event`.
-- Lock order: prospects by address, unsubscribes by address.
create or replace function mark_people_of_campaign_event(
  p_event text, p_send uuid, p_at timestamptz, p_affected text[]
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  case p_event
    when 'sent' then
      update prospects p set last_contacted_at = greatest(p.last_contacted_at, p_at), updated_at = now()
      where p.id = (select s.prospect_id from email_sends s where s.id = p_send) and p.last_contacted_at is distinct from greatest(p.last_contacted_at, p_at);
    when 'bounced' then
      perform mark_prospects(p_affected, 'bounced');
    when 'complained' then
      perform mark_prospects(p_affected, 'complained');
      insert into unsubscribes (email, reason, campaign)
      select distinct lower_address(x.email), 'complaint', (select s.campaign from email_sends s where s.id = p_send)
      from unnest(p_affected) as x(email)
      where x.email <> ''
      order by 1
      on conflict (email) do nothing;
    else null;
  end case;
end
$$;
