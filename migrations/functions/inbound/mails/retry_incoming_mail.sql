-- A mail that waits is due now, with all its attempts. Of one that has ended, the replies that did not go out are; a result's only
-- while it is there. Returns `retried`, `ended` (there is nothing to try again) or null (there is no such mail).
create or replace function retry_incoming_mail(p_id uuid) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found then
    return null;
  end if;
  if m.step <> 'ended' then
    update intake_mails set
      not_before = clock_timestamp(), failures = 0, failing_part = null, failing_since = null, failed_at = null,
      attempts = case when lease is null then 0 else 1 end
    where id = p_id;
    return 'retried';
  end if;
  update intake_replies set
    status = 'queued', lease = null, attempts = 0, unknowns = 0, error = null, ended_at = null, not_before = clock_timestamp()
  where mail_id = p_id and status = 'failed' and kind <> 'processing-started'
    and (kind <> 'success' or m.cleaned is distinct from 'all');
  return case when found then 'retried' else 'ended' end;
end
$$;
