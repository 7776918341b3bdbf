-- Notes that a request of the call that holds a claim leaves now, to this provider; false where it no longer holds it, or where a send
-- without a claim has been accepted meanwhile or left the key open, which then is the claim's own doubt. Called by `MailStore` before a fail-over (MAIL-31), and
-- before a first attempt where `begin_email_sends` did not say so.
create or replace function move_email_claim(p_key_hash text, p_owner text, p_provider text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  c email_send_claims;
  v_open text;
begin
  select * into c from email_send_claims x
  where x.key_hash = p_key_hash and x.owner = p_owner and x.state = 'held' for update;
  if not found or (c.ambiguous and c.provider <> p_provider) or exists (select from find_email_evidence(p_key_hash, c.tag)) then
    return false;
  end if;
  -- What a send without a claim has left open since binds this one, too, and the calls after it (S2).
  v_open := email_doubt_at(p_key_hash, c.first_attempt_at, case when c.ambiguous then p_provider end);
  if v_open is not null then
    update email_send_claims x set
      provider = case when x.ambiguous then x.provider else v_open end, ambiguous = true, updated_at = now()
    where x.key_hash = p_key_hash;
    return false;
  end if;
  update email_send_claims x set provider = p_provider, leaving = true, updated_at = now() where x.key_hash = p_key_hash;
  return true;
end
$$;
