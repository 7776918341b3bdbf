-- Suppressions that a permanent bounce or a complaint asks for, as marks that the row does not have yet: a repeated event does not
-- bring back a suppression that was lifted (P1). The addresses are `suppress` where it is given, else the mail's recipient where it
-- has exactly one: the row's where the library wrote it; of a deferral, which does not say which of its attempts was accepted, each
-- attempt's. An event that names a key is about the library's mail, and waits for the row (a mark without an address), since the
-- event may not know of Cc and Bcc. Of mail that was sent outside the library no more than the event's `recipients` will ever be
-- known. A step of `record_email_events`.
create or replace function suppression_marks_of_event(r email_log, e delivery_event) returns text[]
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_addresses text[];
begin
  v_addresses := case
    when e.suppress is not null then e.suppress
    when r.outcome is not null then
      case
        when r.recipient_count = 1 and (r.outcome <> 'deferred' or not exists (
          select from email_log l where l.key_hash = r.key_hash and l.recipient_count > 1
        )) then (r.to_addresses || r.other_addresses)[1:1]
        else '{}'
      end
    when e.key_tag is not null or e.recipients = '{}' then array['']
    when email_distinct_count(e.recipients) = 1 then e.recipients[1:1]
    else '{}'
  end;
  return array(
    select distinct e.suppression || ':' || x.address from unnest(v_addresses) as x(address)
    where e.suppression || ':' || x.address <> all (r.suppression_marks)
  );
end
$$;
