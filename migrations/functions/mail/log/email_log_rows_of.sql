-- The entries of `record_email_sends`, in the order in which their rows are locked. A deferral takes the place of the row that an
-- early event made of it, of either provider.
create or replace function email_log_rows_of(p_entries jsonb) returns email_log_row[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select row(
      x.ordinality, n.id, coalesce(x.category, 'unknown'), x.source,
      case when position('<' in x."from") = 0 then lower_address(trim_address(x."from")) else email_bare_address(x."from") end,
      email_addresses(x."to"), case x.others when '[]' then '{}' else email_addresses(x.others) end,
      case x.dropped when '[]' then '{}' else email_addresses(x.dropped) end, x.subject, x.outcome, x.error, x.error_kind,
      coalesce(x.failed_over, false), x.cost_usd, x.accepted_cost_usd, x.idempotency_key,
      coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')), x.key_tag, x.provider, x.provider_message_id,
      x.retry_at, nullif(x.attempts, '[]'), x.traceparent, nullif(x.tags, '{}')
    )::email_log_row
    from rows from (jsonb_to_recordset(p_entries) as (
      id uuid, category text, source text, "from" text, "to" jsonb, others jsonb, dropped jsonb, subject text, outcome text, error text,
      error_kind text, failed_over boolean, cost_usd numeric, accepted_cost_usd numeric, idempotency_key text, key_hash text, key_tag text,
      provider text, provider_message_id text, retry_at timestamptz, attempts jsonb, traceparent text, tags jsonb
    )) with ordinality as x
    cross join lateral (select coalesce(x.id, gen_random_uuid()) as id) as n
    left join lateral (
      select l.provider, l.provider_message_id from email_log l
      where x.outcome = 'deferred' and l.key_tag = x.key_tag and l.outcome is null
        and l.outcome is distinct from 'sent' and l.provider_message_id is not null
        -- Compared and ordered as in `lock_early_row`.
        and l.created_at + interval '23 hours 50 minutes' > clock_timestamp()
      order by row(l.created_at, l.id) desc
      limit 1
    ) as early on true
    order by
      coalesce(early.provider, x.provider) collate "C" nulls last,
      coalesce(
        x.provider_message_id,
        (select l.provider_message_id from email_log l where l.entry_id = x.id),
        early.provider_message_id
      ) collate "C" nulls last,
      n.id, x.ordinality
  );
end
$$;
