-- Claims the identity of a mail before any work for it (INBOUND-7, I1). A mail with a signature that another mail of the
-- sender carried is that mail, whatever its Message-ID. Returns `claimed` (by this mail, now or earlier), `duplicate`
-- (another mail has it; this one has ended), `limited` (more than `p_limit` mails of the sender within an hour; it has ended)
-- or `stale`. Lock order: mail, identities in their order, so that two deliveries of one mail do not wait for each other.
create or replace function identify_mail(
  p_id uuid, p_lease uuid, p_identity text, p_message_id text, p_sender text, p_sha256 text, p_subject text,
  p_references text, p_limit integer, p_signatures text[] default '{}'
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step <> 'received' then
    return 'stale';
  end if;
  begin
    -- By identity, so that two deliveries of one mail do not wait for each other.
    insert into intake_identities (identity, mail_id)
    select s, p_id from (select distinct unnest(p_signatures) as s order by 1) x
    on conflict do nothing;
    if exists (select from intake_identities i where i.identity = any (p_signatures) and i.mail_id <> p_id) then
      raise unique_violation;
    end if;
    update intake_mails set
      identity = p_identity, message_id = p_message_id, sender = p_sender, content_sha256 = p_sha256,
      subject = p_subject, thread_references = p_references
    where id = p_id;
  exception when unique_violation then
    update intake_mails set
      step = 'ended', outcome = 'duplicate', sender = p_sender, message_id = p_message_id, lease = null,
      reason = 'the same mail was delivered before', ended_at = clock_timestamp()
    where id = p_id;
    return 'duplicate';
  end;
  if (
    select count(*) from (
      select from intake_mails x
      where x.sender = p_sender and x.received_at > m.received_at - interval '1 hour' and x.received_at <= m.received_at
        and x.id <> p_id and x.outcome is distinct from 'duplicate' and x.outcome is distinct from 'limited'
      limit p_limit
    ) recent
  ) >= p_limit then
    update intake_mails set
      step = 'ended', outcome = 'limited', lease = null, ended_at = clock_timestamp(),
      reason = format('more than %s mails of the sender within an hour', p_limit)
    where id = p_id;
    return 'limited';
  end if;
  return 'claimed';
end
$$;
