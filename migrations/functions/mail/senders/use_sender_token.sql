-- What a sender token allows; no row for one that is unknown or revoked. Its use is written once a minute. Called by `SenderTokens`.
create or replace function use_sender_token(p_hash bytea)
returns table (id uuid, name text, categories text[], from_addresses text[], rate_per_minute integer)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with found as (
    select t.* from sender_tokens t where t.token_hash = p_hash and t.revoked_at is null
  ), touched as (
    update sender_tokens t set last_used_at = now()
    from found where t.id = found.id and (t.last_used_at is null or t.last_used_at < now() - interval '1 minute')
  )
  select f.id, f.name, f.categories, f.from_addresses, f.rate_per_minute from found f
$$;
