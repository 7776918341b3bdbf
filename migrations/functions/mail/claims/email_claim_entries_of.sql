-- The entries of `begin_email_sends`, in the order in which their keys are locked.
create or replace function email_claim_entries_of(p_entries jsonb) returns email_claim_entry[]
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_all jsonb;
begin
  -- One look-up for all of them: few batches hold an address that is suppressed.
  v_all := email_suppressions_of(
    array(select unnest(email_addresses(x.addresses)) from jsonb_to_recordset(p_entries) as x(addresses jsonb)));
  return array(
    select row(
      x.ord, x.key_hash, x.payload_hash, x.provider, x.owner, make_interval(secs => x.lease_ms / 1000.0),
      coalesce(x.tag, email_use_tag(x.key_hash, 'first')), x.known,
      case v_all when '[]' then v_all else email_suppressions_of(email_addresses(x.addresses)) end
    )::email_claim_entry
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord)
    order by x.key_hash, x.ord
  );
end
$$;
