-- Gives a retry the claim `c`; the caller has locked it. A free claim becomes the retry's: a send that found no claim store has left the key
-- open since. A late retry asks no provider any more. `p_torn`: nor does this one, and the key ends; it gets the lease where the key is
-- held at its own provider, to say how it ended. A step of `begin_email_retry`.
create or replace function hold_claim_for_retry(
  c email_send_claims, p_owner text, p_provider text, p_lease_ms float8, p_torn boolean
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_lease timestamptz := clock_timestamp() + make_interval(secs => p_lease_ms / 1000.0);
begin
  if p_torn then
    update email_send_claims x set
      state = 'ended',
      payload_hash = case x.state when 'refused' then '' else x.payload_hash end,
      result = case x.state when 'refused' then null else x.result end,
      owner = case x.provider when p_provider then p_owner else x.owner end,
      lease_until = case x.provider when p_provider then v_lease else x.lease_until end,
      updated_at = now()
    where x.key_hash = c.key_hash;
    return;
  end if;
  update email_send_claims x set
    state = case x.state when 'refused' then 'deferred' else x.state end,
    payload_hash = case x.state when 'refused' then '' else x.payload_hash end,
    result = case x.state when 'refused' then null else x.result end,
    owner = p_owner, provider = p_provider, ambiguous = true, lease_until = v_lease,
    last_attempt_at = case
      when clock_timestamp() - c.first_attempt_at < interval '24 hours' then v_lease else c.last_attempt_at
    end,
    updated_at = now()
  where x.key_hash = c.key_hash;
end
$$;
