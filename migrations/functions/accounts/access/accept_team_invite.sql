-- Accepts an invitation, once; no row for one that is unknown, accepted, too old, or of a team that is gone.
create or replace function accept_team_invite(p_token_hash bytea) returns table (invite_id uuid, inviter text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update team_invites i set accepted_at = clock_timestamp()
  from customers c
  where i.token_hash = p_token_hash and i.accepted_at is null and i.expires_at > clock_timestamp()
    and c.id = i.customer_id and c.deleted_at is null
  returning i.id, coalesce(c.name, c.email)
$$;
