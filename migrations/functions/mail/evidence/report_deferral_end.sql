-- How the deferral that wrote a row ended: by the newest row of its use of the key that a provider accepted, else that ended otherwise; no
-- row while its retries are under way. Called by `MailStore`. An acceptance may be older than the deferral's row, where two calls found no
-- claim store; any other end is not. The claim keeps the acceptance that is reported first: where two copies are out, the event of the
-- other one makes a newer row, and every call on the key gets one mail (S9).
--
-- Uses the index of keys. A missing row could not be written: no use of a key lasts longer than a day. Locks the claim.
create or replace function report_deferral_end(p_key_hash text, p_send_id uuid)
returns table (send_id uuid, outcome text, provider text, provider_message_id text, failed_over boolean, error text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  c email_send_claims;
  v_at timestamptz;
  v_tag text;
begin
  select l.created_at, l.key_tag into v_at, v_tag from email_log l where l.id = p_send_id;
  select
    l.id, case when l.provider_message_id is not null or l.outcome = 'sent' then 'sent' else l.outcome end,
    l.provider, l.provider_message_id, l.failed_over, l.error
  into send_id, outcome, provider, provider_message_id, failed_over, error
  from (
    select x.* from (select y.* from email_log y where y.key_hash = p_key_hash) as x
    where x.created_at >= coalesce(v_at, clock_timestamp() - interval '24 hours')
      and (x.provider_message_id is not null or x.outcome in ('sent', 'suppressed', 'failed'))
    union all
    -- One look-up, as in `write_rows_of_events`.
    select x.* from find_email_evidence(p_key_hash, v_tag, v_at) e
    cross join lateral (
      select y.* from email_log y
      where y.provider = e.provider and y.provider_message_id between e.provider_message_id and e.provider_message_id
      order by y.provider_message_id
      limit 1
    ) as x
    where v_at is not null
  ) as l
  order by (l.provider_message_id is not null or l.outcome = 'sent') desc, l.created_at desc, l.id desc
  limit 1;
  if not found then
    return;
  end if;
  if outcome = 'sent' then
    select * into c from email_send_claims x where x.key_hash = p_key_hash for update;
    if c.state = 'deferred' and c.result ->> 'sendId' = p_send_id::text then
      update email_send_claims x set
        state = 'accepted',
        provider = coalesce(report_deferral_end.provider, x.provider),
        result = x.result || jsonb_build_object(
          'status', 'sent', 'sendId', send_id, 'provider', coalesce(report_deferral_end.provider, x.result ->> 'provider'),
          'providerMessageId', provider_message_id, 'failedOver', failed_over),
        updated_at = now()
      where x.key_hash = p_key_hash;
    -- Another call reported it meanwhile. A later use of the key begins after the row.
    elsif c.state = 'accepted' and c.first_attempt_at <= coalesce(v_at, clock_timestamp()) then
      send_id := (c.result ->> 'sendId')::uuid;
      provider := c.result ->> 'provider';
      provider_message_id := c.result ->> 'providerMessageId';
      failed_over := (c.result ->> 'failedOver')::boolean;
      error := null;
    end if;
  end if;
  return next;
end
$$;
