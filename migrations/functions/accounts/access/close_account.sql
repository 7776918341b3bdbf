-- Closes an account, once: no row for one that is closed. Sign-ins, tokens, links and open invitations end with it, and the name
-- goes. The address stays, so that the count of free pages does not restart and its reader can open the account again;
-- `erase_person` takes it as well.
create or replace function close_account(p_customer_id uuid) returns table (email text, deleted_at timestamptz)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_email text;
  v_at timestamptz := clock_timestamp();
begin
  update customers c set deleted_at = v_at, name = null
  where c.id = p_customer_id and c.deleted_at is null
  returning c.email into v_email;
  if not found then return; end if;
  delete from sessions where customer_id = p_customer_id;
  delete from magic_links where customer_id = p_customer_id;
  update api_tokens set revoked_at = v_at where customer_id = p_customer_id and revoked_at is null;
  delete from team_invites where customer_id = p_customer_id and accepted_at is null;
  return query select v_email, v_at;
end
$$;
