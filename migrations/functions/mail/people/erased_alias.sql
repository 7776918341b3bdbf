-- What replaces the address of an erased person in rows that stay. Its hash is that of `address_hash`, written out: functions are made in any order.
create or replace function erased_alias(p_email text) returns text
language sql
stable
parallel safe
return 'erased:' || encode(sha256(convert_to(p_email, 'UTF8')), 'hex');
