-- Writes the rows of entries in their order, but for those that have a row already; returns the ids of what it wrote.
-- Called by `record_email_sends`. The setting: one plan for all calls; the number of entries changes it, but nothing for the better.
create or replace function insert_email_rows(p_entries email_log_row[]) returns setof uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return query insert into email_log as l (
    id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject,
    outcome, status, provider, provider_message_id, error, error_kind, failed_over, cost_usd, accepted_cost_usd,
    idempotency_key, key_hash, key_tag, retry_at, attempts, traceparent, tags
  )
  select
    e.id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses, e.dropped_addresses,
    email_distinct_count(e.to_addresses || e.other_addresses), e.subject,
    e.outcome, e.outcome, e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd,
    e.accepted_cost_usd, e.idempotency_key, e.key_hash, e.key_tag, e.retry_at, e.attempts, e.traceparent, e.tags
  from unnest(p_entries) as e
  on conflict do nothing
  returning l.id;
end
$$;
