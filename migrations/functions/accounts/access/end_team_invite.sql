-- Records whether the mail of an invitation went out. Changes nothing for a caller that has lost its lease.
create or replace function end_team_invite(p_token_hash bytea, p_sent boolean) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  update team_invites
  set sending_until = null, sent_at = case when p_sent then clock_timestamp() else sent_at end
  where token_hash = p_token_hash
$$;
