-- A text with addresses in lower case, whatever the database's language: in a Turkish one `lower('I')` is no `i`. Its body is read when it
-- is made, so that it needs no search path, and is part of the statements that use it.
create or replace function lower_address(p_text text) returns text
language sql
immutable
parallel safe
return lower(replace(p_text, 'I', 'i'));
