-- Claims the digest of one subscription and period for `p_owner`, with the mail that it is to send:
--
-- * `Claimed`: send `request`, which is an earlier attempt's where that one may have been accepted.
-- * `Settled`: it was sent or suppressed, or the subscription is gone.
-- * `Busy`: another run works on it, and its lease holds.
-- * `Waiting`: with `p_patient`, it failed lately; the wait doubles from two minutes up to six hours.
-- * `Unknown`: an attempt has no known end and is older than the 24 hours for which the relay remembers its key: sending
--   again could send twice (with `p_patient` it waits for a run by hand).
--
-- Lock order: subscription (for key share), delivery.
create or replace function claim_audit_digest(
  p_subscription_id uuid,
  p_cadence text,
  p_period_start timestamptz,
  p_owner text,
  p_lease_ms integer,
  p_patient boolean,
  p_request jsonb
)
returns table (decision text, request jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  r audit_digest_deliveries;
  v_now timestamptz;
  v_lease interval := p_lease_ms * interval '1 millisecond';
begin
  insert into audit_digest_deliveries as d
    (subscription_id, cadence, period_start, state, owner, lease_until, claimed_at, request)
  select s.id, p_cadence, p_period_start, 'claimed', p_owner, clock_timestamp() + v_lease, clock_timestamp(), p_request
  from audit_digest_subscriptions s
  where s.id = p_subscription_id
  for key share
  on conflict do nothing;
  if found then
    return query select 'Claimed', p_request;
    return;
  end if;

  select * into r from audit_digest_deliveries d
  where d.subscription_id = p_subscription_id and d.cadence = p_cadence and d.period_start = p_period_start
  for update;
  if not found then
    return query select 'Settled', null::jsonb;
    return;
  end if;

  v_now := clock_timestamp();
  if r.state in ('sent', 'suppressed') then
    decision := 'Settled';
  elsif r.state = 'claimed' and r.lease_until > v_now then
    decision := 'Busy';
  else
    if r.state = 'claimed' then
      r.uncertain_since := coalesce(r.uncertain_since, r.claimed_at);
    end if;
    if r.uncertain_since <= v_now - interval '24 hours' then
      decision := case when p_patient then 'Waiting' else 'Unknown' end;
    elsif p_patient and r.state = 'failed'
      and r.updated_at > v_now - least(power(2, least(r.attempts, 10)) * interval '1 minute', interval '6 hours') then
      decision := 'Waiting';
    else
      decision := 'Claimed';
      update audit_digest_deliveries d set
        state = 'claimed', owner = p_owner, lease_until = v_now + v_lease, claimed_at = v_now,
        attempts = d.attempts + 1,
        uncertain_since = r.uncertain_since,
        request = coalesce(d.request, p_request),
        updated_at = v_now
      where d.subscription_id = r.subscription_id and d.cadence = r.cadence and d.period_start = r.period_start
      returning d.request into request;
    end if;
  end if;
  return next;
end
$$;
