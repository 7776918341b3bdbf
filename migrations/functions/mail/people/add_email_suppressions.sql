-- Adds automatic suppressions, each `reason:address`, in an order that all writers share (EVENT-14). The row of an erased
-- person's mail names the hash of the address, and its suppression is kept by that hash.
create or replace function add_email_suppressions(p_marks text[], p_note text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into erased_suppressions (address_hash, reason)
  select decode(substring(x.mark from ':erased:([0-9a-f]{64})$'), 'hex') as address_hash,
    substring(x.mark for position(':' in x.mark) - 1) as reason
  from unnest(p_marks) as x(mark)
  where x.mark ~ '^[a-z_]+:erased:[0-9a-f]{64}$'
  order by address_hash, reason
  on conflict do nothing;
  insert into email_suppressions (email, reason, note)
  select
    substring(x.mark from position(':' in x.mark) + 1) as email,
    substring(x.mark for position(':' in x.mark) - 1) as reason,
    p_note
  from unnest(p_marks) as x(mark)
  where x.mark !~ '^[a-z_]+:erased:[0-9a-f]{64}$'
  order by email, reason
  on conflict (email, reason) do nothing;
end
$$;
