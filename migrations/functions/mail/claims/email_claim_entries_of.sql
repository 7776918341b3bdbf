-- The entries of `begin_email_sends`, in the order in which their keys are locked.
create or replace function email_claim_entries_of(p_entries jsonb) returns email_claim_entry[]
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_entries email_claim_entry[];
  v_named jsonb; -- Their addresses, as they came.
  v_addresses text[] := '{}';
begin
  select
    coalesce(array_agg(row(
      x.ord, x.key_hash, x.payload_hash, x.provider, x.owner, make_interval(secs => x.lease_ms / 1000.0),
      coalesce(x.tag, email_use_tag(x.key_hash, 'first')), x.known, '[]'
    )::email_claim_entry order by x.key_hash, x.ord), '{}'),
    coalesce(jsonb_agg(x.addresses order by x.key_hash, x.ord), '[]')
  into v_entries, v_named
  from rows from (jsonb_to_recordset(p_entries) as (
    key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
  )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord);
  -- One look-up for all of them: few batches hold an address that is suppressed.
  for v_at in 1 .. jsonb_array_length(v_named) loop
    v_addresses := v_addresses || email_addresses(v_named -> (v_at - 1));
  end loop;
  if email_suppressions_of(v_addresses) <> '[]' then
    for v_at in 1 .. jsonb_array_length(v_named) loop
      v_entries[v_at].suppressions := email_suppressions_of(email_addresses(v_named -> (v_at - 1)));
    end loop;
  end if;
  return v_entries;
end
$$;
