-- The hash of the key whose use a tag names; null for mail without a key, and for a tag of another installation, which matches
-- no row and no claim.
create or replace function key_of_tag(p_key_tag text) returns text
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return coalesce(
    (select c.key_hash from email_send_claims c where c.tag = p_key_tag limit 1),
    (
      select l.key_hash from email_log l
      where l.key_tag = p_key_tag and l.outcome is distinct from 'sent' and l.key_hash is not null
      limit 1
    )
  );
end
$$;
