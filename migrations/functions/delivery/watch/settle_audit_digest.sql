-- Ends what `p_owner` holds; false where it no longer holds it. `p_certain`: this attempt certainly sent nothing.
create or replace function settle_audit_digest(
  p_subscription_id uuid,
  p_cadence text,
  p_period_start timestamptz,
  p_owner text,
  p_state text,
  p_certain boolean,
  p_error text
)
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update audit_digest_deliveries d set
    state = p_state,
    uncertain_since = case
      when p_state <> 'failed' then null
      when p_certain then d.uncertain_since
      else coalesce(d.uncertain_since, d.claimed_at)
    end,
    request = case
      when p_state = 'failed' and not (p_certain and d.uncertain_since is null) then d.request
    end,
    error = p_error,
    updated_at = clock_timestamp()
  where d.subscription_id = p_subscription_id and d.cadence = p_cadence and d.period_start = p_period_start
    and d.owner = p_owner and d.state = 'claimed';
  return found;
end
$$;
