-- Erases a person: closes the account, and removes the address from everything but the audit trail of admins. Addresses
-- that must not be mailed stay so, by a hash (P3). Returns whether anything was found. `p_email`: bare and lower-case.
--
-- Lock order: erasures (`record_email_events` shares it, and `record_email_sends` for retries), mails of intake with customer and hold, requests of the send queue, queued retries, keys, rows of the log, suppressions, claims, admin, customer,
-- outreach, event hooks. The log comes before the suppressions, as in the writers of events, which lock a row before they add its suppressions.
create or replace function erase_person(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_hash bytea := address_hash(p_email);
  v_alias text := 'erased:' || encode(v_hash, 'hex');
  v_id uuid;
  v_found boolean;
  v_mails uuid[];
begin
  perform pg_advisory_xact_lock(email_key_lock('erase_person'));
  v_found := erase_intake_person(p_email);
  v_found := erase_queued_person(p_email, v_alias) or v_found;
  v_found := erase_deferred_person(p_email) or v_found;

  v_mails := erase_logged_person(p_email, v_alias);
  v_found := v_found or v_mails is not null;

  -- In one statement: one that comes between two would be deleted and not kept.
  with gone as (delete from email_suppressions where email = p_email returning reason)
  insert into erased_suppressions (address_hash, reason)
  select v_hash, reason from gone
  on conflict do nothing;
  v_found := v_found or found;

  update email_send_claims c set result = c.result || jsonb_build_object(
    'suppressedRecipients', (
      select coalesce(jsonb_agg(case x.value when to_jsonb(p_email) then to_jsonb(v_alias) else x.value end), '[]')
      from jsonb_array_elements(c.result -> 'suppressedRecipients') as x
    )
  ) || case when c.result ? 'error' then jsonb_build_object('error', error_without_person(c.result ->> 'error')) else '{}' end
  where c.key_hash in (select l.key_hash from email_log l where l.id = any (v_mails)) and c.result is not null;

  delete from admins where email = p_email;
  v_found := v_found or found;

  select c.id into v_id from customers c where c.email = p_email for update;
  if found then
    v_found := true;
    perform close_account(v_id);
    update customers set email = v_alias || ':' || v_id, name = null where id = v_id;
    delete from api_tokens where customer_id = v_id;
  end if;

  perform erase_request_keys(p_email, v_id);
  delete from file_shares where lower_address(email) = p_email;
  v_found := v_found or found;
  delete from team_invites where email = p_email;
  v_found := v_found or found;
  delete from contact_messages where lower_address(email) = p_email;
  v_found := v_found or found;
  delete from email_alerts a where a.due_at is not null and (
    a.details -> 'recipients' ? p_email
    -- The mail went to nobody else who is still known. One that left the person out is about others.
    or a.send_id = any (v_mails) and exists (
      select from email_log l where l.id = a.send_id and v_alias = any (l.to_addresses || l.other_addresses)
        and 'erased:' = all (select left(x, 7) from unnest(l.to_addresses || l.other_addresses) as x)
    )
  );
  update email_alerts a set details = a.details || '{"subject": null, "reason": null}'
  where a.due_at is not null and a.send_id = any (v_mails);

  v_found := erase_outreach_person(p_email)::integer + erase_hook_person(p_email)::integer > 0 or v_found;
  if v_found then
    insert into admin_audit_log (action, actor, target) values ('person_erased', p_actor, v_alias);
  end if;
  return v_found;
end
$$;
