-- Finds the mail of a delivery report by the tag that its address carries, and which of the reported addresses are recipients of it: of
-- its row, else of its request in the send queue. `known`: this installation has used the tag for mail of its relay. `recipients` is null
-- while the row is not written. An erased person's address still counts. Locks nothing. Called by `DeliveryLog`.
create or replace function mail_of_report(p_message_id text, p_key_tag text, p_addresses text[])
returns table (known boolean, recipients text[])
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_named text[];
begin
  select l.to_addresses || l.other_addresses into v_named
  from email_log l
  where l.provider = 'smtp' and l.provider_message_id = p_message_id and l.key_tag = p_key_tag and l.outcome is not null;
  if not found then
    select l.to_addresses || l.other_addresses into v_named
    from email_log l
    where l.key_tag = p_key_tag and l.outcome is distinct from 'sent' and l.outcome is not null
    order by l.created_at desc, l.id desc
    limit 1;
  end if;
  known := found;
  if not found then
    select case when q.request is not null then
      email_addresses(q.request -> 'to') || email_addresses(q.request -> 'cc') || email_addresses(q.request -> 'bcc') end
    into v_named
    from email_send_claims c
    left join email_send_queue q on q.held_key = c.key_hash
    where c.tag = p_key_tag
    limit 1;
    known := found;
  end if;
  if v_named is not null then
    recipients := array(
      select distinct x.address
      from unnest(p_addresses) as x(address)
      where x.address = any (v_named) or erased_alias(x.address) = any (v_named)
    );
  end if;
  return next;
end
$$;
