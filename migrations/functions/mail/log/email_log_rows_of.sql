-- The entries of `record_email_sends`, as their rows hold them.
create or replace function email_log_rows_of(p_entries jsonb) returns setof email_log_row
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return query
  select
    x.ordinality::integer, coalesce(x.id, gen_random_uuid()), coalesce(x.category, 'unknown'), x.source,
    case when position('<' in x."from") = 0 then lower_address(trim_address(x."from")) else email_bare_address(x."from") end,
    email_addresses(x."to"), case x.others when '[]' then '{}' else email_addresses(x.others) end,
    case x.dropped when '[]' then '{}' else email_addresses(x.dropped) end, x.subject, x.outcome, x.error, x.error_kind,
    coalesce(x.failed_over, false), x.cost_usd, x.accepted_cost_usd, x.idempotency_key,
    coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')), x.key_tag, x.provider, x.provider_message_id,
    x.retry_at, nullif(x.attempts, '[]'), x.traceparent, nullif(x.tags, '{}')
  from rows from (jsonb_to_recordset(p_entries) as (
    id uuid, category text, source text, "from" text, "to" jsonb, others jsonb, dropped jsonb, subject text, outcome text, error text,
    error_kind text, failed_over boolean, cost_usd numeric, accepted_cost_usd numeric, idempotency_key text, key_hash text, key_tag text,
    provider text, provider_message_id text, retry_at timestamptz, attempts jsonb, traceparent text, tags jsonb
  )) with ordinality as x;
end
$$;
