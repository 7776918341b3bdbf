-- The result is stored: in one transaction what was set aside becomes the charge for `p_pages`, the result's reply is queued
-- (`creditsCharged` and `balance` added) and the job logged. So a charge is there exactly if its reply is (F2). Pages that
-- could not be read are pages of the file, and are not charged (R2). Returns `completed` (by this lease, now or earlier),
-- `insufficient` (more pages than were set aside, and no funds for them; nothing was written) or `stale`. Lock order: mail,
-- customer, hold.
create or replace function complete_mail(
  p_id uuid, p_lease uuid, p_pages integer, p_standard integer, p_complex integer, p_result_key text,
  p_result_bytes bigint, p_recipient text, p_reply jsonb, p_as_link boolean
) returns table (answer text, plan text, balance integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  f record;
  -- All pages, those that could not be read and are not charged included.
  v_total integer := p_pages + coalesce(jsonb_array_length(p_reply -> 'unreadablePages'), 0);
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step = 'received' then
    return query select 'stale', null::text, null::integer;
    return;
  end if;
  if m.step = 'ended' then
    return query select case when m.outcome = 'success' then 'completed' else 'stale' end, null::text, null::integer;
    return;
  end if;
  if not widen_hold(p_id, p_pages) or settle_hold(p_id, p_pages) <> 'settled' then
    return query select 'insufficient', x.plan, greatest(x.credits, x.free_pages) from available_funds(m.customer_id, p_id) x;
    return;
  end if;
  update intake_mails set
    step = 'ended', outcome = 'success', pages = v_total, result_key = p_result_key, result_bytes = p_result_bytes,
    ended_at = clock_timestamp()
  where id = p_id;
  insert into conversion_jobs (
    id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, standard_pages, complex_pages,
    credits_charged, status
  ) values (
    p_id, m.customer_id, m.sender, m.filename, 'pdf', m.file_bytes, v_total, p_standard, p_complex, p_pages, 'success'
  );
  select * into f from available_funds(m.customer_id);
  insert into intake_replies (mail_id, kind, recipient, content, as_link) values (
    p_id, p_reply ->> 'kind', p_recipient,
    p_reply || jsonb_build_object('creditsCharged', p_pages, 'balance', greatest(f.credits, f.free_pages)), p_as_link
  );
  return query select 'completed', f.plan, greatest(f.credits, f.free_pages);
end
$$;
