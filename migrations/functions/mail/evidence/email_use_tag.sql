-- The tag of one use of a key: HMAC-SHA-256 over its hash and the id of the use, which is its claim's: `first`, where nothing is known of
-- an earlier use, else the owner that claimed it. Equals `makeUseTag` in the domain.
create or replace function email_use_tag(p_key_hash text, p_use text) returns text
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return (
    select encode(sha256(x.outer_pad || sha256(x.inner_pad || convert_to(p_key_hash || ' ' || p_use, 'UTF8'))), 'hex')
    from email_tag_secrets x
  );
end
$$;
