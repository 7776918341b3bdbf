-- Somebody wants mail again: returns whether an unsubscription, the one of an erased person included, was lifted. Called by
-- `SuppressionList`.
create or replace function lift_unsubscribe(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_found boolean;
begin
  update prospects set status = 'active', updated_at = now()
  where email = p_email and status in ('unsubscribed', 'complained');
  v_found := found;
  delete from unsubscribes where email in (p_email, erased_alias(p_email));
  return v_found or found;
end
$$;
