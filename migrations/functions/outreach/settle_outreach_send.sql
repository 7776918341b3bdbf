-- Brings a deferred outreach send to the end that the log knows; true where it did. The caller has locked the row.
create or replace function settle_outreach_send(p_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_key text;
  v_open record;
  v_end text;
begin
  select case s.status when 'deferred' then s.idempotency_key end into v_key from email_sends s where s.id = p_id;
  if v_key is null then
    return false;
  end if;
  v_open := email_open_key(v_key);
  v_end := case v_open.state when 'sent' then 'sent' when 'new' then v_open.ended end;
  if v_end is null then
    return false;
  end if;
  update email_sends s set
    status = v_end,
    sent_at = case when v_end = 'sent' then coalesce(s.sent_at, now()) else s.sent_at end,
    error = case v_end
      when 'failed' then 'it may have arrived: its retries ended without an answer'
      when 'suppressed' then 'the recipient was suppressed before its retry'
    end,
    error_kind = case v_end when 'failed' then 'ambiguous' end,
    updated_at = now()
  where s.id = p_id;
  return true;
end
$$;
