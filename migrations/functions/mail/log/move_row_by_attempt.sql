-- Moves a row of the library on by a later attempt of its mail. The retry's acceptance came back as an event first and moved the deferred
-- row: that row is the accepted one. A retry that comes again may have gone to others than its first run, before the suppressions
-- changed. A step of `record_email_sends`.
create or replace function move_row_by_attempt(r email_log, e email_log_row) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_sent_to boolean := e.outcome = 'sent' and not exists (
    select from unnest(r.to_addresses || r.other_addresses || r.dropped_addresses) as x(address)
    where x.address like 'erased:%'
  );
begin
  update email_log l set
    to_addresses = case when v_sent_to then e.to_addresses else l.to_addresses end,
    other_addresses = case when v_sent_to then e.other_addresses else l.other_addresses end,
    dropped_addresses = case when v_sent_to then e.dropped_addresses else l.dropped_addresses end,
    recipient_count = case when v_sent_to then email_distinct_count(e.to_addresses || e.other_addresses)
      else l.recipient_count end,
    outcome = e.outcome,
    status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
    provider = coalesce(l.provider, e.provider),
    provider_message_id = coalesce(l.provider_message_id, e.provider_message_id),
    error = coalesce(l.error, e.error),
    error_kind = coalesce(l.error_kind, e.error_kind),
    failed_over = l.failed_over or e.failed_over,
    cost_usd = coalesce(l.cost_usd, e.cost_usd),
    attempts = case when l.attempts @> e.attempts then l.attempts
      else nullif(coalesce(l.attempts, '[]') || coalesce(e.attempts, '[]'), '[]') end,
    updated_at = now()
  where l.id = r.id
  returning * into r;
  return r;
end
$$;
