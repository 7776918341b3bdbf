-- Decides about a key that was not claimed at once: under the lock of its claim, or of its place in the index where it has none. A step of
-- `begin_email_sends`.
create or replace function claim_email_key(e email_claim_entry) returns email_claim_decision
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  d email_claim_decision;
  c email_send_claims;
begin
  loop
    d := claim_unbound_key(e);
    if d.decision is not null then
      return d;
    end if;
    select * into c from email_send_claims x where x.key_hash = e.key_hash for update;
    if found then
      return claim_bound_key(e, c);
    end if;
    -- Purged since.
  end loop;
end
$$;
