-- The principal of a bearer token; no row for a token that is unknown, revoked, expired, or of a deleted customer. Called by
-- `Access`.
create or replace function use_api_token(p_hash bytea, p_embedded boolean)
returns table (token_id uuid, actor text, rights text[], customer_id uuid, expires_at timestamptz)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with found as (
    select t.id, t.name, t.rights, t.customer_id, t.expires_at
    from api_tokens t left join customers c on c.id = t.customer_id
    where t.token_hash = p_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      and c.deleted_at is null and (p_embedded or not t.embedded)
  ), touched as (
    update api_tokens t set last_used_at = now()
    from found where t.id = found.id
      and (t.last_used_at is null or t.last_used_at < now() - interval '1 minute')
  )
  select f.id, f.name, f.rights, f.customer_id, f.expires_at from found f
$$;
