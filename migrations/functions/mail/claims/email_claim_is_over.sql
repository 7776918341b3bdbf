-- Whether a claim that its writer does not own ends by what it writes (`settledClaim` in the domain); of a call that is alive only the
-- result is noted. An acceptance ends a deferral, also where another call learned of it: every later call hears of the same mail (S9).
-- The last retry ends a deferral, too, if it began while this database was away, and holds nothing, and if the call died before it wrote
-- the deferral. One expression, which becomes a part of `settle_email_claims`.
create or replace function email_claim_is_over(c email_send_claims, p_state text, p_is_retry boolean) returns boolean
language sql
return case c.state
  when 'deferred' then c.lease_until is null and (p_state = 'accepted' or (p_is_retry and c.tag is not null))
  when 'held' then p_is_retry and c.tag is not null
    and (p_state <> 'accepted' or c.lease_until is null or c.lease_until <= clock_timestamp())
  else false
end;
