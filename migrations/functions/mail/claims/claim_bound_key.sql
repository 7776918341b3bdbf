-- Decides what a call may do with a key that is bound by the claim `c`, which the caller has locked (`decideClaim` in the domain).
-- A step of `begin_email_sends`.
create or replace function claim_bound_key(e email_claim_entry, c email_send_claims) returns email_claim_decision
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  d email_claim_decision;
  v_now timestamptz := clock_timestamp();
  v_lease timestamptz := v_now + e.lease;
  v_leased boolean := coalesce(v_now < c.lease_until, false);
  v_last timestamptz;
begin
  d.decision := 'Claimed';
  d.takeover := false;
  d.late := v_now - c.first_attempt_at >= interval '24 hours';
  d.first_attempt_at := c.first_attempt_at;
  d.last_attempt_at := c.last_attempt_at;
  d.tag := c.tag;
  d.leaving := e.suppressions = '[]';
  d.owned := false;
  d.torn := false;
  v_last := case when d.late then c.last_attempt_at else v_lease end;

  -- A key that has ended is leased, too, by the call that hears so.
  if c.owner = e.owner and (c.state = 'held' or (c.state = 'ended' and c.lease_until is not null)) then
    d.torn := c.state = 'ended';
    d.sticky := case when c.ambiguous or d.torn then c.provider end;
    d.takeover := c.ambiguous;
    d.result := c.result;
    d.leaving := c.leaving;
    d.owned := true;
    update email_send_claims x set lease_until = v_lease, last_attempt_at = v_last, updated_at = now()
    where x.key_hash = e.key_hash;
  -- `isFree` in the domain.
  elsif c.state = 'refused' or (not v_leased and (v_now - c.last_attempt_at >= interval '24 hours'
    or (c.state = 'held' and not c.leaving and not c.ambiguous)))
  then
    return claim_free_key(e, c);
  elsif c.payload_hash <> '' and c.payload_hash <> e.payload_hash then
    d.decision := 'Conflict';
  elsif c.result is not null and c.state in ('accepted', 'deferred') then
    d.decision := 'Replay';
    d.result := c.result;
  elsif v_leased then
    d.decision := 'InProgress';
  elsif c.result is not null and (c.state = 'ended' or not provider_dedupes(c.provider) or d.late)
    and not exists (select from find_email_evidence(e.key_hash, c.tag))
  then
    d.decision := 'Replay';
    d.result := c.result;
  else
    d.torn := c.state = 'ended';
    d.sticky := c.provider;
    d.takeover := c.result is null;
    d.result := c.result;
    -- The result stays: the call after one that dies now has to know that the retries of this use are over.
    update email_send_claims x set
      -- A call that gets no answer asks as if it had no claim, and the next one must still learn that the key has ended (S2).
      payload_hash = e.payload_hash, state = case when d.torn then 'ended' else 'held' end, ambiguous = true, leaving = d.leaving, owner = e.owner,
      lease_until = v_lease, updated_at = now(),
      -- Where it is deferred, no provider is asked now (`continuation` in the domain).
      last_attempt_at = case when d.takeover and not provider_dedupes(c.provider) then c.last_attempt_at else v_last end
    where x.key_hash = e.key_hash;
  end if;
  return d;
end
$$;
