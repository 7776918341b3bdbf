-- Ends a mail without a result: nothing is charged, what was set aside is released, the reply (null: none) is queued and a
-- conversion that had begun is logged (`p_error`), in one transaction. A reply to a stranger (`p_stranger`) goes out once a
-- day. Of replies that only say how to send a file, `p_brake` go to one address within an hour, so that a program that
-- answers each of them gets no more (INBOUND-5). Returns whether this lease ended it, now or earlier. Lock order: mail,
-- customer, hold.
create or replace function end_mail(
  p_id uuid, p_lease uuid, p_outcome text, p_reason text, p_customer_id uuid, p_filename text, p_file_bytes integer,
  p_error text, p_recipient text, p_reply jsonb, p_stranger boolean, p_brake integer default null
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_braked boolean := false;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease then
    return false;
  end if;
  if m.step = 'ended' then
    return true;
  end if;
  if p_reply is not null and p_brake is not null then
    -- Under the customer's lock, so that two mails at once do not both pass.
    perform from customers where email = p_recipient for no key update;
    v_braked := p_brake <= (
      select count(*) from (
        select from intake_replies r
        where r.recipient = p_recipient and r.kind in ('no-attachment', 'unsupported-file', 'misaddressed')
          and r.created_at > clock_timestamp() - interval '1 hour'
        limit p_brake
      ) recent
    );
  end if;
  perform release_hold(p_id, p_outcome);
  update intake_mails set
    step = 'ended', outcome = p_outcome,
    reason = p_reason || case when v_braked then format(' (not answered: %s such replies within an hour)', p_brake) else '' end,
    customer_id = coalesce(p_customer_id, customer_id),
    filename = coalesce(p_filename, filename), file_bytes = coalesce(p_file_bytes, file_bytes), ended_at = clock_timestamp()
  where id = p_id;
  if p_error is not null then
    insert into conversion_jobs (id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, status, error_message)
    values (p_id, coalesce(p_customer_id, m.customer_id), coalesce(m.sender, p_recipient), coalesce(p_filename, m.filename), 'pdf',
      coalesce(p_file_bytes, m.file_bytes, 0), coalesce(m.pages, 0), 'error', p_error)
    on conflict (id) do nothing;
  end if;
  if p_reply is not null and not v_braked and (not p_stranger or first_today(p_recipient)) then
    perform queue_reply(p_id, p_recipient, p_reply);
  end if;
  return true;
end
$$;
