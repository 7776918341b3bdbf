-- One of the two pads of an HMAC's key: each byte of the secret, filled up to SHA-256's block of 64, xor `p_byte`.
create or replace function email_tag_pad(p_secret bytea, p_byte integer) returns bytea
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_pad bytea := p_secret || decode(repeat('00', 64 - octet_length(p_secret)), 'hex');
begin
  for v_at in 0 .. 63 loop
    v_pad := set_byte(v_pad, v_at, get_byte(v_pad, v_at) # p_byte);
  end loop;
  return v_pad;
end
$$;
