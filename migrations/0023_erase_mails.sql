-- Erasing a person takes their mails of convert-by-email as well.

-- The part of `erase_person` that is about convert-by-email; whether anything was found. A mail under way ends here: its worker
-- has lost its lease and writes nothing more, and what was set aside is given back. What is left of a mail is that there was one;
-- its objects go with the next cleaning, results behind links among them. Charges stay, without a name. Locks are taken as
-- everywhere: mails, customer, hold; so this comes before whatever locks the customer.
create function erase_intake_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_customer uuid;
  v_mails uuid[];
  v_id uuid;
  v_found boolean;
begin
  select c.id into v_customer from customers c where c.email = p_email;
  select array_agg(l.id) into v_mails
  from (
    select x.id from intake_mails x
    where x.sender = p_email or lower(x.envelope_from) = p_email or x.customer_id = v_customer
      or exists (select from intake_replies r where r.mail_id = x.id and r.recipient = p_email)
    order by x.id
    for no key update
  ) l;
  v_found := v_mails is not null;
  delete from intake_replies where mail_id = any (v_mails);
  foreach v_id in array coalesce(v_mails, '{}') loop
    perform release_hold(v_id, 'cancelled');
  end loop;
  update intake_mails set
    step = 'ended', outcome = coalesce(outcome, 'error'), reason = 'the person was erased',
    ended_at = coalesce(ended_at, clock_timestamp()), envelope_from = '', identity = null, message_id = null, sender = null,
    content_sha256 = null, subject = null, thread_references = null, filename = null, ignored = '[]', source_key = null,
    result_key = null, lease = null, cleaned = null
  where id = any (v_mails);
  update conversion_jobs set sender_email = erased_alias(p_email), filename = '', error_message = null
  where sender_email = p_email or customer_id = v_customer;
  v_found := v_found or found;
  delete from intake_strangers where sender = p_email;
  return v_found or found;
end
$$;

-- As migration 0013 has it, and the mails.
create or replace function erase_person(p_email text, p_actor text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_hash bytea := address_hash(p_email);
  v_alias text := 'erased:' || encode(v_hash, 'hex');
  v_id uuid;
  v_found boolean;
begin
  v_found := erase_intake_person(p_email);

  insert into erased_suppressions (address_hash, reason)
  select v_hash, s.reason from email_suppressions s where s.email = p_email
  on conflict do nothing;
  v_found := v_found or found;
  delete from email_suppressions where email = p_email;

  select c.id into v_id from customers c where c.email = p_email for update;
  if found then
    v_found := true;
    perform close_account(v_id);
    update customers set email = v_alias || ':' || v_id, name = null where id = v_id;
    delete from api_tokens where customer_id = v_id;
  end if;

  delete from team_invites where email = p_email;
  v_found := v_found or found;
  delete from contact_messages where lower(email) = p_email;
  v_found := v_found or found;
  delete from email_alerts where due_at is not null and details -> 'recipients' ? p_email;
  update email_log set
    to_addresses = array_replace(to_addresses, p_email, v_alias),
    other_addresses = array_replace(other_addresses, p_email, v_alias),
    suppression_marks = '{}', subject = null, raw = null, updated_at = now()
  where to_addresses @> array[p_email] or other_addresses @> array[p_email];
  v_found := v_found or found;

  v_found := erase_outreach_person(p_email) or v_found;
  if v_found then
    insert into admin_audit_log (action, actor, target) values ('person_erased', p_actor, v_alias);
  end if;
  return v_found;
end
$$;

select secure_function('erase_intake_person(text)');
select secure_function('erase_person(text, text)');
