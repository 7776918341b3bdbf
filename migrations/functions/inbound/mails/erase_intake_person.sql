-- The part of `erase_person` that is about convert-by-email; returns whether anything was found. A mail under way ends here:
-- its worker has lost its lease and writes nothing more, and what was set aside is released. What is left of a mail is that
-- there was one; its objects go with the next cleaning, results behind links among them. Charges stay, without a name. Lock
-- order: mails, customer, hold; so the caller runs it before it locks the customer. The order of the mails does not matter: only an
-- erasure locks several, and erasures run one after another.
create or replace function erase_intake_person(p_email text) returns boolean
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
    where x.sender = p_email or lower_address(x.envelope_from) = p_email or x.customer_id = v_customer
      or exists (select from intake_replies r where r.mail_id = x.id and r.recipient = p_email)
    for no key update
  ) l;
  v_found := v_mails is not null;
  delete from intake_replies where mail_id = any (v_mails);
  delete from intake_identities where mail_id = any (v_mails);
  foreach v_id in array coalesce(v_mails, '{}') loop
    perform release_hold(v_id, 'cancelled');
  end loop;
  update intake_mails set
    step = 'ended', outcome = coalesce(outcome, 'error'), reason = 'the person was erased',
    ended_at = coalesce(ended_at, clock_timestamp()), envelope_from = '', identity = null, message_id = null, sender = null,
    content_sha256 = null, subject = null, thread_references = null, filename = null, ignored = '[]', source_key = null,
    result_key = null, lease = null, cleaned = null, turn = ''
  where id = any (v_mails);
  update conversion_jobs set sender_email = erased_alias(p_email), filename = '', error_message = null
  where sender_email = p_email or customer_id = v_customer;
  v_found := v_found or found;
  delete from intake_strangers where sender = p_email;
  return v_found or found;
end
$$;
