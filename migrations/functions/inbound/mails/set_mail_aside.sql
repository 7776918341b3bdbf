-- Ends a mail that has not ended: its worker has lost its lease, what was set aside is released, and a customer gets an error reply.
-- Returns `set_aside`, `ended` (it had ended) or null. Lock order: mail, customer, hold.
create or replace function set_mail_aside(p_id uuid, p_reason text, p_reply text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_email text;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found then
    return null;
  end if;
  if m.step = 'ended' then
    return 'ended';
  end if;
  select c.email into v_email from customers c
  where (c.id = m.customer_id or c.email = m.sender) and c.deleted_at is null
  limit 1;
  perform release_hold(p_id, 'error');
  update intake_mails set
    step = 'ended', outcome = 'error', reason = p_reason, lease = null, heartbeat_at = null, ended_at = clock_timestamp()
  where id = p_id;
  if m.step = 'converting' then
    insert into conversion_jobs (id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, status, error_message)
    values (p_id, m.customer_id, coalesce(m.sender, v_email, ''), coalesce(m.filename, ''), 'pdf', coalesce(m.file_bytes, 0),
      coalesce(m.pages, 0), 'error', p_reason)
    on conflict (id) do nothing;
  end if;
  if v_email is not null then
    perform queue_reply(p_id, v_email, jsonb_build_object(
      'kind', 'error', 'fileName', coalesce(m.filename, 'Your file'), 'reason', p_reply
    ));
  end if;
  return 'set_aside';
end
$$;
