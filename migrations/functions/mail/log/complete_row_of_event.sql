-- Completes a row that only events wrote with what the library knows; it keeps its id, and has the further of both statuses. `p_marks`:
-- whom its events suppress, now that the recipient is known. A step of `record_email_sends`.
create or replace function complete_row_of_event(r email_log, e email_log_row, p_marks text[]) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_recipients integer := email_distinct_count(e.to_addresses || e.other_addresses);
begin
  begin
    update email_log l set entry_id = e.id where l.id = r.id;
  exception when unique_violation then
    null; -- The attempt completed the row of another message before.
  end;
  update email_log l set
    category = e.category,
    source = e.source,
    from_address = coalesce(e.from_address, l.from_address),
    to_addresses = e.to_addresses,
    other_addresses = e.other_addresses,
    dropped_addresses = e.dropped_addresses,
    recipient_count = v_recipients,
    subject = coalesce(e.subject, l.subject),
    outcome = e.outcome,
    status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
    -- A temporary bounce of a mail that its only recipient got is an automatic reply (EVENT-16).
    error = case
      when email_status_rank(l.status) between email_status_rank('delivered') and email_status_rank('clicked')
        and v_recipients < 2 then e.error
      else coalesce(l.error, e.error)
    end,
    error_kind = e.error_kind,
    failed_over = e.failed_over,
    -- The event that made the row is the proof that a deferral was accepted.
    cost_usd = case when e.outcome = 'deferred' then coalesce(e.cost_usd, e.accepted_cost_usd) else e.cost_usd end,
    accepted_cost_usd = e.accepted_cost_usd,
    idempotency_key = e.idempotency_key,
    key_hash = coalesce(e.key_hash, l.key_hash),
    key_tag = coalesce(e.key_tag, l.key_tag),
    suppression_marks = l.suppression_marks || p_marks,
    retry_at = e.retry_at,
    attempts = e.attempts,
    traceparent = e.traceparent,
    tags = e.tags,
    updated_at = now()
  where l.id = r.id
  returning * into r;
  return r;
end
$$;
