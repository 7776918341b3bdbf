-- Records the library's result of an outreach send. A row that an early event made of the same message becomes part of it.
-- Lock order: message, send, prospect.
create or replace function finish_outreach_send(
  p_id uuid, p_outcome text, p_provider_message_id text, p_error text, p_error_kind text
)
returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  if p_provider_message_id is not null then
    perform pg_advisory_xact_lock(campaign_message_lock(p_provider_message_id));
    delete from email_sends s
    where s.provider_message_id = p_provider_message_id and s.id <> p_id and s.idempotency_key is null;
  end if;
  update email_sends s set
    status = case when campaign_send_rank(p_outcome) > campaign_send_rank(s.status) then p_outcome else s.status end,
    provider_message_id = coalesce(s.provider_message_id, p_provider_message_id),
    sent_at = case when p_outcome = 'sent' then coalesce(s.sent_at, now()) else s.sent_at end,
    error = p_error,
    error_kind = p_error_kind,
    updated_at = now()
  where s.id = p_id;
  perform refresh_email_send(p_id);
  if p_outcome in ('sent', 'deferred') then
    update prospects p set last_contacted_at = greatest(p.last_contacted_at, now()), updated_at = now()
    where p.id = (select s.prospect_id from email_sends s where s.id = p_id);
  end if;
end
$$;
