-- Where an event's mail has no row and its tag names a use of a key, the newest `deferred` row of that use gets provider and message id
-- and moves to `sent`, unless an attempt on the key is under way: then the event may be that attempt's, which will find it. A step of
-- `record_email_events`, under the key's lock. Returns what its caller has to say to event hooks; null where no row moves.
create or replace function adopt_deferral_of_event(e delivery_event) returns hook_event
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r email_log;
begin
  if mail_has_row(e.provider, e.provider_message_id) or exists (
    select from email_send_claims c where c.key_hash = key_of_tag(e.key_tag) and c.lease_until > clock_timestamp()
  ) then
    return null;
  end if;
  select * into r from email_log l
  where l.key_tag = e.key_tag and l.outcome is distinct from 'sent' and l.status = 'deferred' and l.provider_message_id is null
  order by l.created_at desc, l.id desc
  limit 1
  for update;
  if found then
    update email_log l set
      provider = e.provider, provider_message_id = e.provider_message_id, status = 'sent',
      cost_usd = coalesce(l.cost_usd, l.accepted_cost_usd), updated_at = now()
    where l.id = r.id
    returning * into r;
    return row('email.sent', hook_subject_of_mail(r), clock_timestamp(), hook_data_of_mail(r, clock_timestamp(), null), null, null)::hook_event;
  end if;
  return null;
exception
  when unique_violation then return null; -- Its own attempt wrote the message id meanwhile.
end
$$;
