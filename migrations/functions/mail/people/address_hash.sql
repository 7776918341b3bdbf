-- The hash by which the address of an erased person is recognised (P3).
create or replace function address_hash(p_email text) returns bytea
language sql
stable
parallel safe
return sha256(convert_to(p_email, 'UTF8'));
