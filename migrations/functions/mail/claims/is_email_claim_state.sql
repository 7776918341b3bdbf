-- Whether this is a state of a claim. Equals the states of `Claim` in the domain.
create or replace function is_email_claim_state(p_state text) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_state in ('held', 'accepted', 'deferred', 'refused', 'ambiguous', 'ended');
end
$$;
