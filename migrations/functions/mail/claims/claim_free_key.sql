-- Claims a key that is no longer bound by its claim `c`, for a use that continues or for a new one. The caller holds the claim's
-- lock. A step of `begin_email_sends`.
create or replace function claim_free_key(e email_claim_entry, c email_send_claims) returns email_claim_decision
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  d email_claim_decision;
  v_now timestamptz := clock_timestamp();
  v_since timestamptz;
  v_before timestamptz;
  v_expired boolean := coalesce(c.lease_until <= v_now, true) and v_now - c.last_attempt_at >= interval '24 hours';
begin
  select t.provider, t.since, t.last, t.tag into d.sticky, v_since, v_before, d.tag
  from find_email_trail(e.key_hash, e.known) as t;
  if not found and not v_expired then
    -- No mail carries the tag of a use of which nothing was accepted: the key keeps that tag. A use that has evidence all the same
    -- was sent under that tag by a call that found no claim store.
    d.tag := coalesce(c.tag, email_use_tag(e.key_hash, e.owner));
    select x.provider, c.first_attempt_at, c.last_attempt_at into d.sticky, v_since, v_before
    from find_email_evidence(e.key_hash, c.tag) as x;
    if found then
      d.tag := c.tag;
    end if;
  elsif d.sticky is null then
    d.tag := email_use_tag(e.key_hash, e.owner);
  end if;
  d.decision := 'Claimed';
  d.takeover := d.sticky is not null;
  d.late := coalesce(v_now - v_since >= interval '24 hours', false);
  d.leaving := e.suppressions = '[]';
  d.first_attempt_at := coalesce(v_since, v_now);
  d.last_attempt_at := coalesce(v_before, v_now);
  d.owned := false;
  update email_send_claims x set
    payload_hash = e.payload_hash, state = 'held', provider = coalesce(d.sticky, e.provider),
    ambiguous = d.takeover, leaving = d.leaving, owner = e.owner, lease_until = v_now + e.lease,
    first_attempt_at = d.first_attempt_at,
    last_attempt_at = case when d.late or not provider_dedupes(d.sticky) then d.last_attempt_at else v_now + e.lease end,
    tag = d.tag, result = null, updated_at = now()
  where x.key_hash = e.key_hash;
  return d;
end
$$;
