-- Revokes a sender token with its audit row; false, and no row, where none of this id is in force. Called by `SenderTokens`.
create or replace function revoke_sender_token(p_id uuid, p_actor text) returns boolean
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with revoked as (
    update sender_tokens set revoked_at = now() where id = p_id and revoked_at is null returning id, name
  ), noted as (
    insert into admin_audit_log (action, actor, target, details)
    select 'sender_token_revoked', p_actor, r.name, jsonb_build_object('tokenId', r.id) from revoked r
  )
  select exists (select from revoked)
$$;
