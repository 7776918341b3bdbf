-- Writes the rows of entries in their order: all of them or, where one has a row already, none: false then. A step of `record_email_sends`. The setting: one
-- plan for all calls; the number of entries changes it, but nothing for the better.
create or replace function insert_new_rows(p_entries email_log_row[]) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into email_log (
    id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject,
    outcome, status, provider, provider_message_id, error, error_kind, failed_over, cost_usd, accepted_cost_usd,
    idempotency_key, key_hash, key_tag, retry_at, attempts, traceparent, tags
  )
  select
    e.id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses, e.dropped_addresses,
    email_distinct_count(e.to_addresses || e.other_addresses), e.subject,
    e.outcome, e.outcome, e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd,
    e.accepted_cost_usd, e.idempotency_key, e.key_hash, e.key_tag, e.retry_at, e.attempts, e.traceparent, e.tags
  from unnest(p_entries) as e;
  return true;
exception
  -- Cheaper than `on conflict`, which searches every unique index before it writes: almost all rows are new.
  when unique_violation then return false;
end
$$;
