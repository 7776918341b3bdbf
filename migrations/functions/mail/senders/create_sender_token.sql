-- Adds a sender token with its audit row, and returns its id. Called by `SenderTokens`.
create or replace function create_sender_token(
  p_hash bytea, p_name text, p_categories text[], p_from_addresses text[], p_rate_per_minute integer, p_actor text
) returns uuid
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with added as (
    insert into sender_tokens (token_hash, name, categories, from_addresses, rate_per_minute)
    values (p_hash, p_name, p_categories, p_from_addresses, p_rate_per_minute)
    returning id, name
  ), noted as (
    insert into admin_audit_log (action, actor, target, details)
    select 'sender_token_added', p_actor, a.name, jsonb_build_object('tokenId', a.id) from added a
  )
  select a.id from added a
$$;
