-- A signing secret as Standard Webhooks writes them: 244 bits of the server's strong randomness in two random UUIDs.
create or replace function new_hook_secret() returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return 'whsec_' || encode(decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), 'base64');
end
$$;
