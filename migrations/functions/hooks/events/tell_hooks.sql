-- Writes one event for the hooks, in the transaction that records it. `p_subject` of a mail: `key:` and the hash of its idempotency key.
create or replace function tell_hooks(p_type text, p_subject text, p_occurred timestamptz, p_data jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if any_event_hook() then
    perform lock_hook_subjects(array[p_subject]);
    perform write_hook_deliveries(array[row(p_type, p_subject, p_occurred, p_data, null, null)::hook_event]);
  end if;
end
$$;
