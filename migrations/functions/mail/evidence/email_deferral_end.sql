-- How the deferral of a key ended (R3): `sent` (or further), `failed`, `suppressed`; `deferred` while its retries are under way;
-- null where nothing under the key was ever deferred. A key under which a provider accepted a mail is `sent`, whether or not the
-- row of its deferral was written: a caller that was answered `deferred`, and lost the row, would otherwise ask for the mail again
-- once the relay has forgotten the key. So is a key that only an event proves, with the tag of its first use: of a send that found
-- no claim store and lost its rows. No retry goes out 24 hours after the first attempt: a deferral with an end unknown by then has
-- failed (MAIL-56). Called where invitations and outreach sends learn their end.
create or replace function email_deferral_end(p_idempotency_key text) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  with k as materialized (
    select x.hash, email_use_tag(x.hash, 'first') as tag
    from (select encode(sha256(convert_to(p_idempotency_key, 'UTF8')), 'hex') as hash) as x
  )
  select case
    when bool_or(l.outcome = 'sent' or l.provider_message_id is not null) then 'sent'
    when coalesce(bool_or(l.outcome = 'deferred'), false) is false then
      -- A doubt that could not be queued for its retry, or had its recipients suppressed then. A provider that dedupes may be asked
      -- again on the same key; with another one the key is used up for a day.
      case
        when (array_agg(l.is_queued and l.outcome in ('failed', 'suppressed')))[1] then (array_agg(l.outcome))[1]
        when (array_agg((l.error_kind = 'ambiguous' or l.outcome = 'suppressed') and not provider_dedupes(l.provider)))[1] then 'failed'
      end
    else (array_agg(
      case
        when l.outcome = 'deferred' and l.created_at <= clock_timestamp() - interval '24 hours' then 'failed'
        else l.outcome
      end))[1]
  end
  from (
    select x.*, exists (select from email_send_queue q where q.id = x.id) as is_queued
    from email_log x where x.key_hash = (select k.hash from k)
    union all
    select x.*, false from email_log x
    where x.key_tag = (select k.tag from k) and x.outcome is distinct from 'sent' and x.key_hash is null
    order by created_at desc, id desc
  ) as l
$$;
